"""Reciprocal rank fusion: ``sum over lists of weight / (k + rank)``.

Cormack, Clarke, Büttcher: Reciprocal Rank Fusion outperforms Condorcet and individual Rank
Learning Methods, SIGIR 2009 (k = 60 there).
"""

from collections.abc import Sequence

from evidence_lookup.domain.fusion.ranked_list import RankedList
from evidence_lookup.domain.score import Score, ScoreSemantics


def reciprocal_rank(
    lists: Sequence[RankedList], *, k: float = 60.0
) -> tuple[tuple[str, Score], ...]:
    """Fuse by ranks alone; scores are not read, so any semantics mix."""
    sums: dict[str, float] = {}
    for ranked in lists:
        if ranked.weight == 0:
            continue
        for rank, key in enumerate(ranked.unique(), start=1):
            sums[key] = sums.get(key, 0.0) + ranked.weight / (k + rank)
    fused = sorted(sums.items(), key=lambda item: -item[1])
    return tuple((key, Score(value, ScoreSemantics.RANK_FUSED)) for key, value in fused)
