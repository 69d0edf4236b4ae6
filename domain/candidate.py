"""A hit with identity, before selection."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from attrs import frozen

from evidence_lookup.domain.hit import FoundBy, KnowledgeSearchHit
from evidence_lookup.domain.identity import Identity, identify
from evidence_lookup.domain.score import Score


@frozen
class Candidate:
    """A hit with its identity and the rank, from 1, that the port gave it.

    `similarity` is the normalised dense similarity, 0 to 1, or None where none is known.
    """

    identity: Identity
    original_rank: int
    content: str
    score: Score
    similarity: float | None
    metadata: Mapping[str, Any]
    found_by: tuple[FoundBy, ...] = ()

    @property
    def evidence_key(self) -> str:
        """The key that names this chunk everywhere."""
        return self.identity.evidence_key

    @property
    def document_bucket(self) -> str:
        """What the per-document cap counts by: the document, or the key where there is none."""
        return self.identity.doc_id or self.identity.evidence_key

    @property
    def source(self) -> str | None:
        """Where the document came from."""
        return self.text("source") or self.identity.doc_id

    def text(self, name: str) -> str | None:
        """A metadata value as text, or None where it is missing or blank."""
        value = self.metadata.get(name)
        return str(value) if value is not None and str(value).strip() else None

    def texts(self, name: str) -> tuple[str, ...]:
        """A metadata list as texts; one text counts as a list of one."""
        value = self.metadata.get(name)
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list | tuple):
            return tuple(str(item) for item in cast("Sequence[object]", value))
        return ()

    def number(self, name: str) -> int | None:
        """A metadata value as a whole number, or None."""
        value = self.metadata.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def candidates_from(hits: Sequence[KnowledgeSearchHit]) -> tuple[Candidate, ...]:
    """The candidates of *hits*, in the port's order."""
    return tuple(
        Candidate(
            identity=identify(hit.metadata, hit_id=hit.id, original_rank=rank),
            original_rank=rank,
            content=hit.content,
            score=hit.score,
            similarity=(hit.similarity_score or hit.score).similarity,
            metadata=hit.metadata,
            found_by=hit.found_by,
        )
        for rank, hit in enumerate(hits, start=1)
    )


def best_similarity(candidates: Sequence[Candidate]) -> float | None:
    """The highest normalised similarity among *candidates*, or None where none is known."""
    return max((c.similarity for c in candidates if c.similarity is not None), default=None)
