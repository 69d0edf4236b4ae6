"""The fifth step: one result from what the others found."""

from attrs import evolve

from evidence_lookup.application.lookup_rules import LookupRules
from evidence_lookup.application.query_transform import TransformedQuery
from evidence_lookup.application.retrieval import Retrieval
from evidence_lookup.domain.errors import message_of
from evidence_lookup.domain.evidence import EvidenceBlock, RetrievalLayer, evidence_block
from evidence_lookup.domain.pack import ContextPack, ContextPackSummary
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.status import (
    EvidenceStatus,
    RelevanceLevel,
    completeness,
    evidence_status,
    relevance_level,
)
from evidence_lookup.domain.trace import RetrievalTrace, rerank_trace


def evidence_blocks(
    retrieval: Retrieval, transformed: TransformedQuery
) -> tuple[EvidenceBlock, ...]:
    """The blocks of the selected attempt, best first."""
    layer = retrieval_layer(retrieval, transformed)
    return tuple(evidence_block(one, layer) for one in retrieval.selected.accepted)


def retrieval_layer(retrieval: Retrieval, transformed: TransformedQuery) -> RetrievalLayer:
    """``L0+L1`` where hints and candidates both took part, else ``L1`` (R20)."""
    took_part = bool(transformed.hints) and retrieval.selected.attempt.candidate_count > 0
    return RetrievalLayer.L0_L1 if took_part else RetrievalLayer.L1


def assemble(
    invocation_id: str,
    transformed: TransformedQuery,
    retrieval: Retrieval,
    blocks: tuple[EvidenceBlock, ...],
    context_pack: ContextPack,
    rules: LookupRules,
) -> LookupResult:
    """The result of a lookup that searched."""
    selected = retrieval.selected
    level = relevance_level(blocks, rules.thresholds)
    status = EvidenceStatus.UNAVAILABLE if selected.error else evidence_status(level)
    hint, sentence = completeness(blocks, selected.drops, context_pack.summary)
    return LookupResult(
        invocation_id=invocation_id,
        query=transformed.query,
        found=status in (EvidenceStatus.FOUND, EvidenceStatus.LOW_RELEVANCE),
        evidence_status=status,
        message=_message(status, len(blocks), message_of(selected.error) if selected.error else ""),
        relevance_level=level,
        completeness_hint=hint,
        completeness_message=sentence,
        evidence_blocks=blocks,
        context_pack=context_pack,
        query_transform=transformed.trace(retrieval.cuts),
        retrieval_trace=RetrievalTrace(
            attempts=retrieval.attempts,
            selected_attempt=selected.attempt.name,
            fallback_reason=retrieval.fallback_reason,
            filter_relaxed=retrieval.fallback_reason is not None
            and selected.attempt.hint_filter is None,
            retrieval_layer=retrieval_layer(retrieval, transformed),
            candidate_count=selected.attempt.candidate_count,
            block_count=len(blocks),
            drops=selected.drops,
            reason=selected.error.kind if selected.error else None,
            warnings=transformed.warnings + selected.warnings,
        ),
        rerank_trace=rerank_trace(selected.accepted),
    )


def assemble_unsearched(
    invocation_id: str, transformed: TransformedQuery, reason: str, rules: LookupRules
) -> LookupResult:
    """The result of a lookup that had nothing to search: an empty query, or L1 disabled."""
    summary = ContextPackSummary(budget=rules.context_budget, used=0)
    hint, sentence = completeness((), (), summary)
    return LookupResult(
        invocation_id=invocation_id,
        query=transformed.query,
        found=False,
        evidence_status=EvidenceStatus.NO_EVIDENCE,
        message=_UNSEARCHED[reason],
        relevance_level=RelevanceLevel.NONE,
        completeness_hint=hint,
        completeness_message=sentence,
        evidence_blocks=(),
        context_pack=ContextPack("", (), summary),
        query_transform=transformed.trace(),
        retrieval_trace=RetrievalTrace(reason=reason, warnings=transformed.warnings),
        rerank_trace=(),
    )


def timed(result: LookupResult, timings: dict[str, float]) -> LookupResult:
    """*result* with its timings, in seconds by stage."""
    return evolve(result, retrieval_trace=evolve(result.retrieval_trace, timings=timings))


EMPTY_QUERY = "empty_query"
L1_DISABLED = "l1_disabled"
_UNSEARCHED = {
    EMPTY_QUERY: "No knowledge evidence was found: the query is empty.",
    L1_DISABLED: "No knowledge evidence was found: retrieval is disabled (rag.l1-enabled).",
}


def _message(status: EvidenceStatus, count: int, error: str) -> str:
    match status:
        case EvidenceStatus.FOUND:
            return f"Knowledge evidence was found: {_blocks(count)}."
        case EvidenceStatus.LOW_RELEVANCE:
            return f"Only weakly related evidence was found: {_blocks(count)}."
        case EvidenceStatus.NO_EVIDENCE:
            return "No knowledge evidence was found for this query."
        case EvidenceStatus.UNAVAILABLE:
            return f"The knowledge base is unavailable: {error}"


def _blocks(count: int) -> str:
    return "1 block" if count == 1 else f"{count} blocks"
