"""Small values of the domain for its tests."""

from typing import Any

from evidence_lookup.domain.candidate import Candidate, candidates_from
from evidence_lookup.domain.evidence import EvidenceBlock, RetrievalLayer
from evidence_lookup.domain.hit import FoundBy, KnowledgeSearchHit
from evidence_lookup.domain.pack import ContextPack, pack
from evidence_lookup.domain.rerank import RankedCandidate, rerank
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.domain.selection import Drop
from evidence_lookup.domain.status import CompletenessHint, EvidenceStatus, RelevanceLevel
from evidence_lookup.domain.text import estimate_tokens
from evidence_lookup.domain.trace import QueryTransform, RetrievalTrace, rerank_trace

NO_HINTS = QueryTransform("").hints


def cosine(value: float | None) -> Score:
    """A cosine score."""
    return Score(value, ScoreSemantics.COSINE)


def hit(
    doc_id: str | None = "a",
    index: int | None = 0,
    score: Score | float | None = 0.9,
    *,
    content: str = "text",
    id: str | None = None,
    similarity_score: Score | None = None,
    found_by: tuple[FoundBy, ...] = (),
    **metadata: Any,
) -> KnowledgeSearchHit:
    """A hit of chunk *index* of *doc_id*; a bare number is a cosine."""
    identity = {"doc_id": doc_id, "chunk_index": index}
    return KnowledgeSearchHit(
        id=id,
        content=content,
        score=score if isinstance(score, Score) else cosine(score),
        metadata={**{k: v for k, v in identity.items() if v is not None}, **metadata},
        similarity_score=similarity_score,
        found_by=found_by,
    )


def candidate(*args: Any, **kwargs: Any) -> Candidate:
    """The only candidate of a `hit` of the same arguments."""
    return candidates_from([hit(*args, **kwargs)])[0]


def ranked(*hits: KnowledgeSearchHit) -> tuple[RankedCandidate, ...]:
    """*hits* as candidates, reranked without hints."""
    return rerank(candidates_from(hits), NO_HINTS)


def keys(items: "tuple[RankedCandidate, ...] | tuple[Drop, ...]") -> list[str]:
    """The evidence keys of *items*, in their order."""
    return [
        one.candidate.evidence_key if isinstance(one, RankedCandidate) else one.evidence_key
        for one in items
    ]


def block(
    key: str = "a#chunk-0",
    content: str = "text",
    *,
    similarity: float | None = 0.9,
    source: str | None = "a.md",
    title: str | None = "Title",
    breadcrumb: str | None = "Title > Part",
    hit_reasons: tuple[str, ...] = ("dense:rank 1",),
) -> EvidenceBlock:
    """A block of *key*."""
    return EvidenceBlock(
        evidence_key=key,
        doc_id="a",
        chunk_index=0,
        source=source,
        title=title,
        breadcrumb=breadcrumb,
        category="databases",
        retrieval_layer=RetrievalLayer.L1,
        score=cosine(similarity),
        similarity=similarity,
        content=content,
        hit_reasons=hit_reasons,
    )


def result(
    *blocks: EvidenceBlock,
    context_pack: ContextPack | None = None,
    accepted: tuple[RankedCandidate, ...] = (),
    query: str = "how does redis fail over",
    trace: RetrievalTrace | None = None,
) -> LookupResult:
    """A result that found *blocks*."""
    return LookupResult(
        invocation_id="00000000-0000-7000-8000-000000000001",
        query=query,
        found=bool(blocks),
        evidence_status=EvidenceStatus.FOUND if blocks else EvidenceStatus.NO_EVIDENCE,
        message="Knowledge evidence was found.",
        relevance_level=RelevanceLevel.HIGH if blocks else RelevanceLevel.NONE,
        completeness_hint=CompletenessHint.COMPLETE if blocks else CompletenessHint.NONE,
        completeness_message="Every accepted evidence block is here in full.",
        evidence_blocks=blocks,
        context_pack=context_pack or pack(blocks, 10_000, estimate_tokens),
        query_transform=QueryTransform(query),
        retrieval_trace=trace or RetrievalTrace(selected_attempt="unfiltered"),
        rerank_trace=rerank_trace(accepted),
    )
