"""Dense search over any VectorStore.

Equal scores are ordered by id. Stores give ties in any order, so that a list is fetched longer
than asked until its last document scores worse than the last one wanted (or `MAX_HITS` are there).
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from inspect import isawaitable
from typing import TYPE_CHECKING

from evidence_lookup.adapters.per_loop import PerLoop
from evidence_lookup.adapters.vector_store.errors import translated
from evidence_lookup.adapters.vector_store.filters import filter_arguments
from evidence_lookup.adapters.vector_store.langchain import checked, made_by
from evidence_lookup.adapters.vector_store.open_store import OpenStore, close_now, closing
from evidence_lookup.adapters.vector_store.settings import VectorStoreSettings
from evidence_lookup.adapters.vector_store.store_hits import hits, in_order, is_settled
from evidence_lookup.adapters.vector_store.workers import OpenedOnce, Workers
from evidence_lookup.adapters.vectors import check_vector
from evidence_lookup.domain.errors import (
    BackendError,
    BackendFailedError,
    DimensionMismatchError,
    UnsupportedModeError,
)
from evidence_lookup.domain.hit import KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.text import clean, cut
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
    SearchCapabilities,
)

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

    from evidence_lookup.ports.embedder import Vectors

MAX_HITS = 10_000
MAX_QUERY_CHARACTERS = 8_192
PATH = "vectorstore"
_SPARE = 8


def probe_vector(dimension: int) -> "Vectors":
    """Some unit vector to search for."""
    import numpy as np

    vector = np.zeros(dimension, dtype=np.float32)
    vector[0] = 1.0
    return vector


class StoreSearch:
    """`KnowledgeSearchPort` over one store, the host's own or one that a factory makes."""

    def __init__(
        self, settings: VectorStoreSettings, embedder: Embedder, store: "VectorStore | None"
    ) -> None:
        self._settings = settings
        self._embedder = embedder
        self._store = store
        self._name = type(store).__name__ if store is not None else settings.factory
        self._states = PerLoop(
            lambda: _LoopState(self._open, self._close_now, settings.timeout_seconds)
        )

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """As `KnowledgeSearchPort.search`; ties beyond 10,000 equal documents are the store's."""
        if request.vector is None:
            raise UnsupportedModeError("a search of a VectorStore needs the query's vector")
        # What the store's own vectors are like, only the store knows.
        check_vector(request.vector, self._embedder.dimension, what="the query's vector")
        degraded = () if request.mode is SearchMode.DENSE else (f"{request.mode}_unavailable",)
        try:
            with translated(self._name, self._settings.timeout_seconds):
                found = await self._hits(request)
        except BackendFailedError:
            # Each store says in its own way that the vector is too long or too short for it.
            with suppress(BackendError):
                await self._check_dimension()
            raise
        return KnowledgeSearchResponse(found, SearchMode.DENSE, PATH, degraded)

    async def probe(self) -> SearchCapabilities:
        """As `KnowledgeSearchPort.probe`, by a search for one hit; the model is not known."""
        await self._check_dimension()
        vector = probe_vector(self._embedder.dimension)
        await self.search(KnowledgeSearchRequest("probe", vector, top_k=1))
        with translated(self._name, self._settings.timeout_seconds):
            opened = await self._states().store.get()
        return SearchCapabilities(
            path=PATH,
            dimension=self._embedder.dimension,
            semantics=opened.score.semantics,
            modes=frozenset({SearchMode.DENSE}),
            max_top_k=MAX_HITS,
            max_query_characters=MAX_QUERY_CHARACTERS,
        )

    async def aclose(self) -> None:
        """Close this loop's store if the factory made it; repeating is safe."""
        state = self._states.take()
        if state is None:
            return
        opened = state.store.take()
        if opened is not None:
            with translated(self._name, self._settings.timeout_seconds):
                await self._close(opened, state.workers)

    def _open(self) -> OpenStore:
        """The store, ready; blocks."""
        if self._store is not None:
            return OpenStore.of(checked(self._store, "the given store is"), self._settings)
        made = made_by(self._settings.factory, self._embedder)
        try:
            return OpenStore.of(made, self._settings)
        except BaseException:
            close_now(made)
            raise

    def _close_now(self, opened: OpenStore) -> None:
        """Close a store that was opened too late; blocks."""
        if self._store is None:
            close_now(opened.store)

    async def _check_dimension(self) -> None:
        """Refuse an index that can tell that it holds vectors of another dimension."""
        state, wanted = self._states(), self._embedder.dimension
        with translated(self._name, self._settings.timeout_seconds):
            opened = await state.store.get()
            async with asyncio.timeout(self._settings.timeout_seconds):
                found = await state.workers.run(opened.dimension)
        if found is not None and found != wanted:
            raise DimensionMismatchError(
                f"the query's vector has {wanted} dimensions, but the index of {self._name} "
                f"(vector-store.factory) has {found}: it was made by another embedder (set "
                "embedder.kind and embedder.model back, or give a store that this one has filled)",
                expected=found,
                actual=wanted,
            )

    async def _close(self, opened: OpenStore, workers: Workers) -> None:
        close = closing(opened.store) if self._store is None else None
        if close is None:
            return
        async with asyncio.timeout(self._settings.timeout_seconds):
            done = await workers.run(close)
            if isawaitable(done):
                await done

    async def _hits(self, request: KnowledgeSearchRequest) -> tuple[KnowledgeSearchHit, ...]:
        """The best hits in scope, ties by id."""
        state = self._states()
        opened = await state.store.get()
        filters = filter_arguments(
            opened.profile.filter, request.scope, request.hint_filter, opened.store
        )
        query = clean(cut(request.query, MAX_QUERY_CHARACTERS))
        wanted = min(request.top_k, MAX_HITS)
        limit = min(wanted + _SPARE, MAX_HITS)
        while wanted > 0:
            assert request.vector is not None
            async with asyncio.timeout(self._settings.timeout_seconds):
                found = await opened.ask(
                    state.workers, query, request.vector, {**filters, "k": limit}
                )
            ordered = in_order(found, opened, request)
            if is_settled(ordered, opened, wanted) or len(found) < limit or limit == MAX_HITS:
                return hits(ordered[:wanted], opened)
            limit = min(limit * 4, MAX_HITS)
        return ()


class _LoopState:
    """What belongs to one event loop."""

    def __init__(
        self,
        open_store: Callable[[], OpenStore],
        close_now: Callable[[OpenStore], None],
        seconds: float,
    ) -> None:
        self.workers = Workers()
        self.store = OpenedOnce(open_store, close_now, self.workers, seconds=seconds)
