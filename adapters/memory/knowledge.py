"""Knowledge in this process: for tests, trials and small collections."""

import threading
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import anyio
from attrs import frozen

from evidence_lookup.adapters.chunks import check_one_document
from evidence_lookup.adapters.memory.bm25 import bm25
from evidence_lookup.adapters.merging import Merged, Merger, list_length, mode_to_run, parts
from evidence_lookup.adapters.vectors import check_vector
from evidence_lookup.domain.document import Chunk
from evidence_lookup.domain.errors import (
    CollectionMissingError,
    InvalidChunkError,
)
from evidence_lookup.domain.filters import is_allowed
from evidence_lookup.domain.fusion import Fusion, reciprocal_rank
from evidence_lookup.domain.hit import KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.index_fit import check_fit
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.domain.text import cut, has_controls
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
    SearchCapabilities,
)
from evidence_lookup.ports.knowledge_store import EmbeddedChunk

if TYPE_CHECKING:
    from evidence_lookup.ports.embedder import Vectors

_PATH = "memory"
_MAX_TOP_K = 16_384
_MAX_QUERY_CHARACTERS = 8_192


@frozen
class _Collection:
    model: str
    dimension: int
    rows: Mapping[str, EmbeddedChunk]


class MemoryKnowledge:
    """One collection as `KnowledgeSearchPort` and `KnowledgeStore`; gone with the process.

    Dense scores are cosines. *fusion* makes one list of two in a hybrid search, with the weights
    *dense_weight* and *keyword_weight*, from 0.
    """

    def __init__(
        self,
        *,
        fusion: Fusion = reciprocal_rank,
        dense_weight: float = 1.0,
        keyword_weight: float = 1.0,
    ) -> None:
        self._merger = Merger(fusion, dense_weight, keyword_weight)
        self._collection: _Collection | None = None
        # Held without an await: two event loops may write from two threads.
        self._writing = threading.Lock()

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """As `KnowledgeSearchPort.search`."""
        mode, _ = mode_to_run(request)
        collection = self._there()
        if request.vector is not None:
            check_vector(request.vector, collection.dimension, what="the query's vector")
        # Writes put a new collection in place, so that a thread reads one that nobody changes.
        hits = await anyio.to_thread.run_sync(self._find, collection, request)
        return KnowledgeSearchResponse(hits=hits, mode=mode, path=_PATH)

    async def probe(self) -> SearchCapabilities:
        """As `KnowledgeSearchPort.probe`."""
        collection = self._there()
        return SearchCapabilities(
            path=_PATH,
            dimension=collection.dimension,
            semantics=ScoreSemantics.COSINE,
            modes=frozenset(SearchMode),
            max_top_k=_MAX_TOP_K,
            max_query_characters=_MAX_QUERY_CHARACTERS,
            embedder=collection.model,
        )

    async def prepare(self, *, model: str, dimension: int) -> bool:
        """As `KnowledgeStore.prepare`."""
        with self._writing:
            made = self._collection is None
            there = self._collection or _Collection(model, dimension, {})
            self._collection = there
        check_fit(
            stored_model=there.model,
            stored_dimension=there.dimension,
            model=model,
            dimension=dimension,
        )
        return made

    async def upsert(self, chunks: Sequence[EmbeddedChunk]) -> None:
        """As `KnowledgeStore.upsert`; of chunks with one key the last one stays."""
        if not chunks:
            return
        with self._writing:
            collection = self._there()
            self._put(collection, {**collection.rows, **_checked(chunks, collection.dimension)})

    async def replace_document(self, doc_id: str, chunks: Sequence[EmbeddedChunk]) -> None:
        """As `KnowledgeStore.replace_document`."""
        check_one_document(doc_id, chunks)
        with self._writing:
            collection = self._there()
            rows = _checked(chunks, collection.dimension)
            self._put(collection, {**_without(collection.rows, (doc_id,)), **rows})

    async def delete_documents(self, doc_ids: Sequence[str]) -> None:
        """As `KnowledgeStore.delete_documents`."""
        if not doc_ids:
            return
        with self._writing:
            collection = self._there()
            self._put(collection, _without(collection.rows, doc_ids))

    async def drop(self) -> None:
        """As `KnowledgeStore.drop`."""
        with self._writing:
            self._collection = None

    async def aclose(self) -> None:
        """There is nothing to close."""

    def _there(self) -> _Collection:
        if self._collection is None:
            raise CollectionMissingError("nothing was ingested into this process's memory yet")
        return self._collection

    def _put(self, collection: _Collection, rows: Mapping[str, EmbeddedChunk]) -> None:
        self._collection = _Collection(collection.model, collection.dimension, rows)

    def _find(
        self, collection: _Collection, request: KnowledgeSearchRequest
    ) -> tuple[KnowledgeSearchHit, ...]:
        rows = {
            key: row
            for key, row in collection.rows.items()
            if is_allowed(row.chunk.metadata(), request.scope, request.hint_filter)
        }
        cosines = {} if request.vector is None else _cosines(request.vector, rows)
        top_k = min(request.top_k, _MAX_TOP_K)
        wanted = max(list_length(request.mode, top_k), 0)
        lists: dict[SearchMode, list[tuple[str, Score]]] = {}
        for mode in parts(request.mode):
            if mode is SearchMode.DENSE:
                ordered = _ordered(cosines, ScoreSemantics.COSINE)
            else:
                query = cut(request.query, _MAX_QUERY_CHARACTERS)
                weights = bm25(query, {key: row.chunk.passage for key, row in rows.items()})
                ordered = _ordered(weights, ScoreSemantics.BM25)
            lists[mode] = ordered[:wanted]
        return tuple(
            _hit(rows[one.key].chunk, one, cosines.get(one.key))
            for one in self._merger.merged(lists, top_k=top_k)
        )


def _checked(chunks: Sequence[EmbeddedChunk], dimension: int) -> dict[str, EmbeddedChunk]:
    for one in chunks:
        key = one.chunk.evidence_key
        check_vector(one.vector, dimension, what=f"the vector of {key!r}")
        if has_controls(one.chunk.doc_id):
            raise InvalidChunkError(f"{key!r} holds a control character or lone surrogate")
        if any(unicodedata.category(char) == "Cs" for char in one.chunk.content):
            raise InvalidChunkError(f"the content of {key!r} holds a lone surrogate")
    return {one.chunk.evidence_key: one for one in chunks}


def _without(rows: Mapping[str, EmbeddedChunk], doc_ids: Sequence[str]) -> dict[str, EmbeddedChunk]:
    gone = frozenset(doc_ids)
    return {key: row for key, row in rows.items() if row.chunk.doc_id not in gone}


def _cosines(query: "Vectors", rows: Mapping[str, EmbeddedChunk]) -> dict[str, float]:
    import numpy as np

    if not rows:
        return {}
    stored = np.stack([row.vector for row in rows.values()]).astype(np.float64)
    wanted = query.astype(np.float64)
    lengths = np.linalg.norm(stored, axis=1) * np.linalg.norm(wanted)
    # One cell of a matrix product may differ in its last bits with its place: ties would break.
    dots = (stored * wanted).sum(axis=1)
    return dict(zip(rows, (dots / lengths).tolist(), strict=True))


def _ordered(values: Mapping[str, float], semantics: ScoreSemantics) -> list[tuple[str, Score]]:
    ordered = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    return [(key, Score(value, semantics)) for key, value in ordered]


def _hit(chunk: Chunk, merged: Merged, cosine: float | None) -> KnowledgeSearchHit:
    return KnowledgeSearchHit(
        id=merged.key,
        content=chunk.content,
        score=merged.score,
        metadata=chunk.metadata(),
        similarity_score=None if cosine is None else Score(cosine, ScoreSemantics.COSINE),
        found_by=merged.found_by,
    )
