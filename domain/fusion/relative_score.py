"""Relative score fusion: ``sum over lists of weight * (s - worst) / (best - worst)``.

Also called min-max fusion (Lee: Analyses of Multiple Evidence Combination, SIGIR 1997, with
CombSUM). Unlike ranks it keeps how far apart the hits of a list stand, so that a keyword list
that merely shares numbers with a foreign-language query does not drown the dense list.
"""

import math
from collections.abc import Sequence

from evidence_lookup.domain.fusion.ranked_list import RankedList
from evidence_lookup.domain.score import Score, ScoreSemantics


def relative_score(lists: Sequence[RankedList]) -> tuple[tuple[str, Score], ...]:
    """Fuse by scores brought to 0..1 within each list; a score of no value counts as the worst.

    A list whose scores are all equal gives each of its keys the full weight.
    """
    sums: dict[str, float] = {}
    for ranked in lists:
        if ranked.weight == 0:
            continue
        goodness = {key: score.goodness for key, score in ranked.unique().items()}
        known = [value for value in goodness.values() if math.isfinite(value)]
        worst, best = min(known, default=0.0), max(known, default=0.0)
        spread = best - worst
        for key, value in goodness.items():
            position = (value - worst) / spread if 0 < spread < math.inf else 1.0
            share = position if math.isfinite(value) else 0.0
            sums[key] = sums.get(key, 0.0) + ranked.weight * share
    fused = sorted(sums.items(), key=lambda item: -item[1])
    return tuple((key, Score(value, ScoreSemantics.RANK_FUSED)) for key, value in fused)
