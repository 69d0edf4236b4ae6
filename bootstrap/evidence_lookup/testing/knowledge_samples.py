"""Chunks and requests for the knowledge contracts."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from attrs import evolve

from evidence_lookup.domain.document import Chunk
from evidence_lookup.domain.filters import HintFilter, Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest
from evidence_lookup.ports.knowledge_store import EmbeddedChunk

if TYPE_CHECKING:
    from evidence_lookup.ports.embedder import Vectors

DIMENSION = 4
MODEL = "contract-model@1"


def unit(*values: float) -> "Vectors":
    """The direction of *values* as a unit vector, float32; missing places are 0."""
    vector = np.zeros(DIMENSION, dtype=np.float32)
    vector[: len(values)] = values
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def embedded(
    doc_id: str,
    index: int = 0,
    text: str = "text",
    vector: "Vectors | None" = None,
    *,
    category: str | None = None,
    **scope: str | int | bool,
) -> EmbeddedChunk:
    """A chunk of *doc_id* whose title says nothing; its vector is ``[1, 0, 0, 0]`` if not given."""
    chunk = Chunk(
        doc_id=doc_id,
        chunk_index=index,
        content=text,
        start=0,
        end=len(text),
        source=f"{doc_id}.md",
        title="-",
        category=category,
        scope=scope,
    )
    return EmbeddedChunk(chunk, unit(1) if vector is None else vector)


def foreign(
    doc_id: str, metadata: Mapping[str, object] | None = None, *, chunk_index: object = 0
) -> EmbeddedChunk:
    """A chunk as another program may have stored it: its index and *metadata* are any JSON."""
    anything = cast("Any", {"scope": dict(metadata or {}), "chunk_index": chunk_index})
    one = embedded(doc_id)
    return evolve(one, chunk=evolve(one.chunk, **anything))


def asked(
    query: str = "text",
    *,
    vector: "Vectors | None" = None,
    top_k: int = 10,
    mode: SearchMode = SearchMode.DENSE,
    scope: Scope | None = None,
    category: str | None = None,
) -> KnowledgeSearchRequest:
    """A request whose vector is ``[1, 0, 0, 0]`` if not given."""
    return KnowledgeSearchRequest(
        query=query,
        vector=unit(1) if vector is None else vector,
        top_k=top_k,
        mode=mode,
        scope=Scope() if scope is None else scope,
        hint_filter=None if category is None else HintFilter(category),
    )
