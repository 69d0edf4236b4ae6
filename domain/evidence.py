"""An accepted candidate: the block that an answer can cite."""

from enum import StrEnum

from attrs import frozen

from evidence_lookup.domain.rerank import RankedCandidate
from evidence_lookup.domain.score import Score


class RetrievalLayer(StrEnum):
    """Which layers took part: hints (L0) never find, they only help (R20)."""

    L1 = "L1"
    L0_L1 = "L0+L1"


@frozen
class EvidenceBlock:
    """One chunk of evidence (R41).

    `score` is the backend's; `similarity` is the normalised dense similarity, 0 to 1, or None
    where none is known. `start` and `end` are character offsets in the document's text.
    """

    evidence_key: str
    doc_id: str | None
    chunk_index: int | None
    source: str | None
    title: str | None
    breadcrumb: str | None
    category: str | None
    retrieval_layer: RetrievalLayer
    score: Score
    similarity: float | None
    content: str
    hit_reasons: tuple[str, ...]
    start: int | None = None
    end: int | None = None


def evidence_block(ranked: RankedCandidate, layer: RetrievalLayer) -> EvidenceBlock:
    """The block of an accepted candidate; its identity is the candidate's (R04)."""
    candidate = ranked.candidate
    return EvidenceBlock(
        evidence_key=candidate.evidence_key,
        doc_id=candidate.identity.doc_id,
        chunk_index=candidate.identity.chunk_index,
        source=candidate.source,
        title=candidate.text("title"),
        breadcrumb=candidate.text("breadcrumb"),
        category=candidate.text("category"),
        retrieval_layer=layer,
        score=candidate.score,
        similarity=candidate.similarity,
        content=candidate.content,
        hit_reasons=ranked.hit_reasons,
        start=candidate.number("start"),
        end=candidate.number("end"),
    )
