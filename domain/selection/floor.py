"""The evidence floor: what is no nearer than unrelated texts is no evidence (R53)."""

from collections.abc import Sequence

from evidence_lookup.domain.rerank import RankedCandidate
from evidence_lookup.domain.selection.drop import Drop, DropReason, drop


def apply_floor(
    ranked: Sequence[RankedCandidate], floor: float
) -> tuple[tuple[RankedCandidate, ...], tuple[Drop, ...]]:
    """Keep what has a similarity of at least *floor*, and what has no similarity to judge by."""
    kept: list[RankedCandidate] = []
    drops: list[Drop] = []
    for one in ranked:
        similarity = one.candidate.similarity
        if similarity is not None and similarity < floor:
            drops.append(drop(one, DropReason.BELOW_FLOOR))
        else:
            kept.append(one)
    return tuple(kept), tuple(drops)
