"""One block for each evidence key; the better one's content, both ones' reasons (R05, R06)."""

from collections.abc import Sequence

from attrs import evolve

from evidence_lookup.domain.rerank import RankedCandidate
from evidence_lookup.domain.selection.drop import Drop, DropReason, drop


def remove_duplicates(
    ranked: Sequence[RankedCandidate],
) -> tuple[tuple[RankedCandidate, ...], tuple[Drop, ...]]:
    """Keep the first of each evidence key, with the later ones' hit reasons appended."""
    kept: dict[str, RankedCandidate] = {}
    drops: list[Drop] = []
    for one in ranked:
        key = one.candidate.evidence_key
        first = kept.get(key)
        if first is None:
            kept[key] = one
        else:
            kept[key] = evolve(first, merged_reasons=first.merged_reasons + one.hit_reasons)
            drops.append(drop(one, DropReason.DUPLICATE))
    return tuple(kept.values()), tuple(drops)
