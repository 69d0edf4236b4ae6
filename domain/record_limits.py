"""A record has a hard limit in bytes, and an order in which it gives way."""

from collections.abc import Callable
from typing import TypeAlias

from attrs import evolve

from evidence_lookup.domain.hints import QueryHints
from evidence_lookup.domain.pack import ContextPackSummary
from evidence_lookup.domain.path_try import PathTry, TraceError
from evidence_lookup.domain.record import RetrievalDetails, ToolInvocation
from evidence_lookup.domain.text import cut
from evidence_lookup.domain.trace import RECORD_PATH, Attempt, QueryCut, RetrievalTrace

SizeOf: TypeAlias = Callable[[ToolInvocation], int]
"""Bytes of a record as JSON."""

SMALLEST_LIMIT = 8_192
"""Bytes; the shortest form of any record of this library fits in."""

_SHORT, _SHORTEST = 1_000, 120  # characters
_FEW, _FEWEST = 50, 5


def within_limit(record: ToolInvocation, max_bytes: int, size_of: SizeOf) -> ToolInvocation:
    """*record* if it is of at most *max_bytes*, else as much of it as fits.

    What is needed least goes first, and nothing more than has to: the sidecar's comparison, the
    previews, drops and blocks behind the 50th, drops and blocks behind the 5th with the longer
    texts, and at last all but the names, counts and timings. A warning in the trace,
    ``record_shortened``, names what went. *max_bytes* is at least `SMALLEST_LIMIT`.
    """
    if size_of(record) <= max_bytes:
        return record
    told, gone = record, list[str]()
    for name, shorten in _STEPS.items():
        shorter = shorten(record)
        if shorter == record:
            continue
        record, gone = shorter, [*gone, name]
        told = _with_warning(record, f"record_shortened: without {', '.join(gone)}")
        if size_of(told) <= max_bytes:
            break
    return told


def _with_warning(record: ToolInvocation, warning: str) -> ToolInvocation:
    trace = record.retrieval_details.retrieval_trace
    return _with_trace(record, evolve(trace, warnings=(*trace.warnings, warning)))


def _with_trace(record: ToolInvocation, trace: RetrievalTrace) -> ToolInvocation:
    return evolve(record, retrieval_details=evolve(record.retrieval_details, retrieval_trace=trace))


def _without_comparison(record: ToolInvocation) -> ToolInvocation:
    trace = record.retrieval_details.retrieval_trace
    if trace.sidecar is None:
        return record
    return _with_trace(record, evolve(trace, sidecar=evolve(trace.sidecar, comparison=None)))


def _without_previews(record: ToolInvocation) -> ToolInvocation:
    details = record.retrieval_details
    blocks = tuple(evolve(block, preview="") for block in details.evidence_blocks)
    return evolve(record, retrieval_details=evolve(details, evidence_blocks=blocks))


def _with_few(record: ToolInvocation, most: int = _FEW) -> ToolInvocation:
    details = record.retrieval_details
    summary, trace = details.context_pack_summary, details.retrieval_trace
    return evolve(
        record,
        retrieval_details=evolve(
            details,
            retrieval_trace=evolve(trace, drops=trace.drops[:most]),
            context_pack_summary=evolve(
                summary,
                included=summary.included[:most],
                cut=summary.cut[:most],
                omitted=summary.omitted[:most],
            ),
            rerank_trace=details.rerank_trace[:most],
            evidence_blocks=details.evidence_blocks[:most],
        ),
    )


def _with_fewest(record: ToolInvocation) -> ToolInvocation:
    record = _with_query(_with_few(record, _FEWEST), _SHORT)
    details = record.retrieval_details
    transform, trace = details.query_transform, details.retrieval_trace
    return evolve(
        record,
        retrieval_details=evolve(
            details,
            query_transform=evolve(transform, hints=transform.hints.bounded(_FEWEST)),
            retrieval_trace=evolve(
                trace, warnings=tuple(cut(one, _SHORTEST) for one in trace.warnings[:_FEWEST])
            ),
        ),
    )


def _with_query(record: ToolInvocation, most: int) -> ToolInvocation:
    query = cut(record.query, most)
    if query == record.query:
        return record
    details = record.retrieval_details
    transform = details.query_transform
    others = (one for one in transform.cuts if one.path != RECORD_PATH)
    cuts = (*others, QueryCut(RECORD_PATH, len(record.query), len(query)))
    transform = evolve(transform, query=query, cuts=cuts)
    return evolve(record, query=query, retrieval_details=evolve(details, query_transform=transform))


def _bare(record: ToolInvocation) -> ToolInvocation:
    record = _with_query(record, _SHORTEST)
    details = record.retrieval_details
    transform, trace = details.query_transform, details.retrieval_trace
    summary = details.context_pack_summary
    return evolve(
        record,
        session_id=_shortest(record.session_id),
        retrieval_details=RetrievalDetails(
            query_transform=evolve(
                transform,
                hints=QueryHints(),
                hint_filter=_shortest(transform.hint_filter),
                scope=transform.scope[:_FEWEST],
            ),
            retrieval_trace=RetrievalTrace(
                attempts=tuple(map(_bare_attempt, trace.attempts[:2])),
                selected_attempt=trace.selected_attempt,
                fallback_reason=trace.fallback_reason,
                filter_relaxed=trace.filter_relaxed,
                retrieval_layer=trace.retrieval_layer,
                candidate_count=trace.candidate_count,
                block_count=trace.block_count,
                reason=trace.reason,
            ),
            context_pack_summary=ContextPackSummary(summary.budget, summary.used),
            rerank_trace=(),
            evidence_blocks=(),
            fallback_reason=details.fallback_reason,
        ),
    )


def _bare_attempt(attempt: Attempt) -> Attempt:
    return evolve(
        attempt,
        hint_filter=_shortest(attempt.hint_filter),
        degraded=attempt.degraded[:2],
        error=_bare_error(attempt.error),
        tries=tuple(PathTry(one.path, _bare_error(one.error)) for one in attempt.tries[:2]),
    )


def _bare_error(error: TraceError | None) -> TraceError | None:
    return None if error is None else TraceError(error.kind, cut(error.message, _SHORTEST))


def _shortest(text: str | None) -> str | None:
    return None if text is None else cut(text, _SHORTEST)


_STEPS: dict[str, Callable[[ToolInvocation], ToolInvocation]] = {
    "the sidecar's comparison": _without_comparison,
    "previews": _without_previews,
    f"what is behind the {_FEW}th": _with_few,
    f"what is behind the {_FEWEST}th": _with_fewest,
    "lists": _bare,
}
