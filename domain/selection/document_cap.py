"""No document fills the answer alone (R07, R08)."""

from collections import Counter
from collections.abc import Sequence

from evidence_lookup.domain.rerank import RankedCandidate
from evidence_lookup.domain.selection.drop import Drop, DropReason, drop


def cap_per_document(
    ranked: Sequence[RankedCandidate], most: int
) -> tuple[tuple[RankedCandidate, ...], tuple[Drop, ...]]:
    """Keep the best *most* of each document; a candidate of no document has a bucket of its own."""
    taken: Counter[str] = Counter()
    kept: list[RankedCandidate] = []
    drops: list[Drop] = []
    for one in ranked:
        bucket = one.candidate.document_bucket
        if taken[bucket] < most:
            taken[bucket] += 1
            kept.append(one)
        else:
            drops.append(drop(one, DropReason.DOCUMENT_CAP))
    return tuple(kept), tuple(drops)
