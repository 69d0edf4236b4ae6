"""The record of one lookup: compact, without content (R45 to R48)."""

from collections.abc import Callable, Mapping
from datetime import datetime
from hashlib import sha256
from typing import TypeAlias

from attrs import evolve, field, frozen

from evidence_lookup.domain.evidence import EvidenceBlock, RetrievalLayer
from evidence_lookup.domain.pack import ContextPackSummary
from evidence_lookup.domain.path_try import TraceError
from evidence_lookup.domain.preview import preview
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.score import Score
from evidence_lookup.domain.sidecar import NO_SIDECAR, SidecarReport
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.domain.text import cut
from evidence_lookup.domain.trace import (
    FallbackReason,
    QueryTransform,
    RerankEntry,
    RetrievalTrace,
)

TOOL_NAME = "lookup_knowledge"
RECORDED_QUERY_LENGTH = 2_000
Redact: TypeAlias = Callable[[str], str]
"""From a query to the text that is recorded in its place; must not raise."""

_LEFT_OUT = "[left out: trace.redact is set, and a message may repeat the query]"
_COMPARED_ROWS = 40  # all of two paths that were asked for 20 each, the default


@frozen
class EvidenceSummary:
    """A block without its content: a preview of at most 120 characters stands for it.

    `content_hash` is the SHA-256 of the content in hexadecimal, so that an excerpt that is found
    again, or was kept elsewhere, can be proven to be the one that was shown.
    """

    evidence_key: str
    source: str | None
    title: str | None
    retrieval_layer: RetrievalLayer
    score: Score
    similarity: float | None
    hit_reasons: tuple[str, ...]
    content_length: int
    preview: str
    content_hash: str | None = None


@frozen
class RetrievalDetails:
    """What `tool_invocation.retrieval_details` holds, under exactly these names."""

    query_transform: QueryTransform
    retrieval_trace: RetrievalTrace
    context_pack_summary: ContextPackSummary
    rerank_trace: tuple[RerankEntry, ...]
    evidence_blocks: tuple[EvidenceSummary, ...]
    fallback_reason: FallbackReason | None


@frozen
class ToolInvocation:
    """One row of `tool_invocation`. `id` is a UUIDv7, `created_at` is in UTC, times are seconds."""

    id: str
    tool_name: str
    session_id: str | None
    query: str
    evidence_status: EvidenceStatus
    retrieval_layer: RetrievalLayer | None
    candidate_count: int
    block_count: int
    duration_seconds: float
    timings: Mapping[str, float]
    created_at: datetime
    retrieval_details: RetrievalDetails
    schema_version: int = field(default=1)


def tool_invocation(
    result: LookupResult,
    *,
    session_id: str | None,
    created_at: datetime,
    duration_seconds: float,
    redact: Redact | None = None,
) -> ToolInvocation:
    """The record of *result*, as of a lookup without a sidecar, with its query as *redact* says.

    Its id is the result's `invocation_id`. With *redact* the messages of errors are left out, since
    a backend may repeat this query in them, or an earlier one; their kinds stay.
    """
    trace = evolve(result.retrieval_trace, sidecar=NO_SIDECAR)
    redacted = result.query
    if redact is not None:
        trace, redacted = _without_messages(trace), redact(result.query)
    query = cut(redacted, RECORDED_QUERY_LENGTH)
    is_redacted = redacted != result.query
    return ToolInvocation(
        id=result.invocation_id,
        tool_name=TOOL_NAME,
        session_id=session_id,
        query=query,
        evidence_status=result.evidence_status,
        retrieval_layer=trace.retrieval_layer,
        candidate_count=trace.candidate_count,
        block_count=trace.block_count,
        duration_seconds=duration_seconds,
        timings=trace.timings,
        created_at=created_at,
        retrieval_details=RetrievalDetails(
            query_transform=evolve(result.query_transform, query=query, redacted=is_redacted),
            retrieval_trace=trace,
            context_pack_summary=result.context_pack.summary,
            rerank_trace=result.rerank_trace,
            evidence_blocks=tuple(map(_summary, result.evidence_blocks)),
            fallback_reason=trace.fallback_reason,
        ),
    )


def with_sidecar(invocation: ToolInvocation, report: SidecarReport) -> ToolInvocation:
    """*invocation* with what came of its sidecar."""
    if report.comparison is not None:
        report = evolve(report, comparison=report.comparison.bounded(_COMPARED_ROWS))
    details = invocation.retrieval_details
    if details.query_transform.redacted:
        report = evolve(report, error=_without_message(report.error))
    trace = evolve(details.retrieval_trace, sidecar=report)
    return evolve(invocation, retrieval_details=evolve(details, retrieval_trace=trace))


def content_hash(content: str) -> str:
    """The SHA-256 of *content*, in hexadecimal."""
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def _without_messages(trace: RetrievalTrace) -> RetrievalTrace:
    attempts = (
        evolve(
            one,
            error=_without_message(one.error),
            tries=tuple(evolve(each, error=_without_message(each.error)) for each in one.tries),
        )
        for one in trace.attempts
    )
    warnings = (one.partition(":")[0] for one in trace.warnings)
    return evolve(trace, attempts=tuple(attempts), warnings=tuple(warnings))


def _without_message(error: TraceError | None) -> TraceError | None:
    return None if error is None else TraceError(error.kind, _LEFT_OUT)


def _summary(block: EvidenceBlock) -> EvidenceSummary:
    return EvidenceSummary(
        evidence_key=block.evidence_key,
        source=block.source,
        title=block.title,
        retrieval_layer=block.retrieval_layer,
        score=block.score,
        similarity=block.similarity,
        hit_reasons=block.hit_reasons,
        content_length=len(block.content),
        preview=preview(block.content),
        content_hash=content_hash(block.content),
    )
