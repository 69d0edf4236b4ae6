"""A record without its details: what lists and statistics need of thousands at once."""

from collections.abc import Mapping
from datetime import datetime

from attrs import frozen

from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.domain.trace import FallbackReason


@frozen
class InvocationSummary:
    """A row of `tool_invocation`, and the `fallback_reason` of its details. Times are seconds."""

    id: str
    session_id: str | None
    query: str
    evidence_status: EvidenceStatus
    candidate_count: int
    block_count: int
    duration_seconds: float
    timings: Mapping[str, float]
    created_at: datetime
    fallback_reason: FallbackReason | None


def summary_of(record: ToolInvocation) -> InvocationSummary:
    """The summary of *record*."""
    return InvocationSummary(
        id=record.id,
        session_id=record.session_id,
        query=record.query,
        evidence_status=record.evidence_status,
        candidate_count=record.candidate_count,
        block_count=record.block_count,
        duration_seconds=record.duration_seconds,
        timings=record.timings,
        created_at=record.created_at,
        fallback_reason=record.retrieval_details.fallback_reason,
    )
