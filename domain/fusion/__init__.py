"""Rules that make one ranked list of several, one module for each rule."""

from evidence_lookup.domain.fusion.ranked_list import Fusion, RankedList
from evidence_lookup.domain.fusion.reciprocal_rank import reciprocal_rank
from evidence_lookup.domain.fusion.relative_score import relative_score

__all__ = ["Fusion", "RankedList", "reciprocal_rank", "relative_score"]
