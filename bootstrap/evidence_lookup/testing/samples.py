"""Small whole values for tests; every argument has a default."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.evidence import EvidenceBlock, RetrievalLayer
from evidence_lookup.domain.hints import HintTerm, HintTermKind, QueryHints
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.pack import pack
from evidence_lookup.domain.record import ToolInvocation, tool_invocation
from evidence_lookup.domain.rerank import Boost
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.domain.selection import Drop, DropReason
from evidence_lookup.domain.status import CompletenessHint, EvidenceStatus, RelevanceLevel
from evidence_lookup.domain.text import normalise
from evidence_lookup.domain.trace import (
    Attempt,
    FallbackReason,
    QueryTransform,
    RerankEntry,
    RetrievalTrace,
)

SOME_TIME = datetime(2025, 3, 9, 16, 5, 7, 250_000, tzinfo=UTC)


def entry(
    doc_id: str = "guide",
    *,
    title: str = "Guide",
    category: str | None = None,
    keywords: Sequence[str] = (),
    entities: Sequence[str] = (),
    headings: Sequence[str] = (),
    scope: Mapping[str, str | int | bool] | None = None,
    content_hash: str = "0" * 64,
    chunk_count: int = 1,
) -> CatalogueEntry:
    """A catalogue entry, complete if not told otherwise."""
    return CatalogueEntry(
        doc_id=doc_id,
        source=f"{doc_id}.md",
        root="/docs",
        title=title,
        category=category,
        keywords=tuple(keywords),
        entities=tuple(entities),
        headings=tuple(headings),
        scope=dict(scope or {}),
        content_hash=content_hash,
        recipe="chunks@1 model@1" if content_hash else "",
        chunk_count=chunk_count,
    )


def term(
    text: str,
    *,
    kind: HintTermKind = HintTermKind.KEYWORD,
    title: str = "Guide",
    category: str | None = None,
) -> HintTerm:
    """A hint term as `domain.hints.hint_terms` makes it."""
    return HintTerm(normalise(text).strip(), text.strip(), kind, title, category)


def block(evidence_key: str = "guide#chunk-0", content: str = "Retry after 30 s.") -> EvidenceBlock:
    """An evidence block with a cosine of 0.8."""
    doc_id = evidence_key.partition("#")[0]
    return EvidenceBlock(
        evidence_key=evidence_key,
        doc_id=doc_id,
        chunk_index=0,
        source=f"{doc_id}.md",
        title="Guide",
        breadcrumb="Guide > Retries",
        category="ops",
        retrieval_layer=RetrievalLayer.L0_L1,
        score=Score(0.8, ScoreSemantics.COSINE),
        similarity=0.8,
        content=content,
        hit_reasons=("dense:rank 1", "keyword:retry"),
        start=0,
        end=len(content),
    )


def result(
    query: str = "How long do we wait before a retry?",
    *,
    invocation_id: str = "0195-a",
    blocks: Sequence[EvidenceBlock] | None = None,
    drops: Sequence[Drop] | None = None,
    fallback_reason: FallbackReason | None = None,
) -> LookupResult:
    """The answer of one lookup: *blocks*, one by default, of which none is near."""
    chosen = (block(),) if blocks is None else tuple(blocks)
    dropped = (
        (Drop("guide#chunk-1", DropReason.BELOW_FLOOR, len(chosen) + 1, 0.1),)
        if drops is None
        else tuple(drops)
    )
    attempts = [_attempt("filtered", "ops", chosen, dropped)]
    if fallback_reason is not None:
        attempts.append(_attempt("unfiltered", None, chosen, dropped))
    return LookupResult(
        invocation_id=invocation_id,
        query=query,
        found=bool(chosen),
        evidence_status=EvidenceStatus.FOUND if chosen else EvidenceStatus.NO_EVIDENCE,
        message="Knowledge evidence was found." if chosen else "No knowledge evidence was found.",
        relevance_level=RelevanceLevel.REFERENCE if chosen else RelevanceLevel.NONE,
        completeness_hint=CompletenessHint.COMPLETE if chosen else CompletenessHint.NONE,
        completeness_message="Every accepted evidence block is here in full.",
        evidence_blocks=chosen,
        context_pack=pack(chosen, 200, len),
        query_transform=QueryTransform(
            query=query,
            hints=QueryHints(("Guide",), ("retry",), ("ops",), ("Redis",)),
            hint_filter="ops",
            scope=("tenant",),
        ),
        retrieval_trace=RetrievalTrace(
            attempts=tuple(attempts),
            selected_attempt=attempts[-1].name,
            fallback_reason=fallback_reason,
            filter_relaxed=fallback_reason is not None,
            retrieval_layer=RetrievalLayer.L0_L1,
            candidate_count=len(chosen) + len(dropped),
            block_count=len(chosen),
            drops=dropped,
            timings={"transform": 0.001, "retrieve": 0.02},
        ),
        rerank_trace=tuple(
            RerankEntry(
                final_rank=rank,
                evidence_key=one.evidence_key,
                source=one.source,
                base_score=one.score,
                base=1.0,
                boosts=(Boost("keyword_match", 0.1, "keyword:retry"),),
                ranking_score=1.1,
            )
            for rank, one in enumerate(chosen, start=1)
        ),
    )


def invocation(
    invocation_id: str = "0195-a",
    *,
    session_id: str | None = None,
    created_at: datetime = SOME_TIME,
    query: str = "How long do we wait before a retry?",
    of: LookupResult | None = None,
) -> ToolInvocation:
    """The record of the lookup *of*, or of `result` with these values."""
    return tool_invocation(
        of or result(query, invocation_id=invocation_id),
        session_id=session_id,
        created_at=created_at,
        duration_seconds=0.021,
    )


def _attempt(
    name: str,
    hint_filter: str | None,
    blocks: Sequence[EvidenceBlock],
    drops: Sequence[Drop],
) -> Attempt:
    return Attempt(
        name=name,
        requested_mode=SearchMode.HYBRID,
        top_k=20,
        hint_filter=hint_filter,
        mode=SearchMode.DENSE,
        path="memory",
        degraded=("hybrid_unavailable",),
        candidate_count=len(blocks) + len(drops),
        block_count=len(blocks),
        best_similarity=max((one.similarity or 0.0 for one in blocks), default=None),
    )
