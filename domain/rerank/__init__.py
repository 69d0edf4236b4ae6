"""Deterministic rules that move candidates, each with its reason (R18, R35)."""

from evidence_lookup.domain.rerank.boost import Boost
from evidence_lookup.domain.rerank.ranking import DEFAULT_RULES, RankedCandidate, RerankRule, rerank

__all__ = ["DEFAULT_RULES", "Boost", "RankedCandidate", "RerankRule", "rerank"]
