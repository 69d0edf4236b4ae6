"""The evidence guard: are an answer's references and quotes real? (R39)"""

from evidence_lookup.domain.evidence_guard.excerpts import (
    Excerpt,
    recorded_excerpt,
    returned_excerpts,
)
from evidence_lookup.domain.evidence_guard.guard import EvidenceGuard
from evidence_lookup.domain.evidence_guard.report import (
    GuardReport,
    QuoteFinding,
    QuoteState,
    ReferenceFinding,
    ReferenceVerdict,
)

__all__ = [
    "EvidenceGuard",
    "Excerpt",
    "GuardReport",
    "QuoteFinding",
    "QuoteState",
    "ReferenceFinding",
    "ReferenceVerdict",
    "recorded_excerpt",
    "returned_excerpts",
]
