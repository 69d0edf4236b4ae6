"""Dense search over any VectorStore.

Equal scores are ordered by id. Stores give ties in any order, so that a list is fetched longer
than asked until its last document scores worse than the last one wanted (or `MAX_HITS` are there),
then sorted here by the store's own number.
"""

import asyncio
from collections.abc import Callable
from copy import deepcopy
from inspect import isawaitable, iscoroutinefunction
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from evidence_lookup.adapters.per_loop import PerLoop
from evidence_lookup.adapters.vector_store.errors import translated
from evidence_lookup.adapters.vector_store.filters import filter_arguments, is_allowed
from evidence_lookup.adapters.vector_store.langchain import checked, made_by
from evidence_lookup.adapters.vector_store.profiles import StoreProfile, profile_of
from evidence_lookup.adapters.vector_store.running_query import running
from evidence_lookup.adapters.vector_store.scores import ScoreKind
from evidence_lookup.adapters.vector_store.settings import VectorStoreSettings
from evidence_lookup.adapters.vector_store.workers import OpenedOnce, Workers
from evidence_lookup.adapters.vectors import check_vector
from evidence_lookup.domain.errors import UnsupportedModeError
from evidence_lookup.domain.hit import FoundBy, KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.text import clean, cut
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
    SearchCapabilities,
)

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.vectorstores import VectorStore

MAX_HITS = 10_000
MAX_QUERY_CHARACTERS = 8_192
PATH = "vectorstore"
_SPARE = 8


@frozen
class _OpenStore:
    """A store with what the table says of it."""

    store: "VectorStore"
    profile: StoreProfile
    score: ScoreKind


class _LoopState:
    """What belongs to one event loop."""

    def __init__(self, open_store: Callable[[], _OpenStore], seconds: float) -> None:
        self.workers = Workers()
        self.store = OpenedOnce(open_store, _close_now, self.workers, seconds=seconds)


class StoreSearch:
    """`KnowledgeSearchPort` over one store, the host's own or one that a factory makes."""

    def __init__(
        self, settings: VectorStoreSettings, embedder: Embedder, store: "VectorStore | None"
    ) -> None:
        self._settings = settings
        self._embedder = embedder
        self._store = store
        self._name = type(store).__name__ if store is not None else settings.factory
        self._states = PerLoop(lambda: _LoopState(self._open, settings.timeout_seconds))

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """As `KnowledgeSearchPort.search`; ties beyond 10,000 equal documents are the store's."""
        if request.vector is None:
            raise UnsupportedModeError("a search of a VectorStore needs the query's vector")
        # What the store's own vectors are like, only the store knows.
        check_vector(request.vector, self._embedder.dimension, what="the query's vector")
        degraded = () if request.mode is SearchMode.DENSE else (f"{request.mode}_unavailable",)
        hits = await self._hits(request)
        return KnowledgeSearchResponse(hits, SearchMode.DENSE, PATH, degraded)

    async def probe(self) -> SearchCapabilities:
        """As `KnowledgeSearchPort.probe`, by a search for one hit; the model is not known."""
        import numpy as np

        vector = np.zeros(self._embedder.dimension, dtype=np.float32)
        vector[0] = 1.0
        await self.search(KnowledgeSearchRequest("probe", vector, top_k=1))
        state = self._states()
        with translated(self._name, self._settings.timeout_seconds):
            opened = await state.store.get()
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
        if opened is not None and self._store is None:
            with translated(self._name, self._settings.timeout_seconds):
                async with asyncio.timeout(self._settings.timeout_seconds):
                    for close in _closers(opened):
                        done = await state.workers.start(close)
                        if isawaitable(done):
                            await done
        state.workers.close()

    def _open(self) -> _OpenStore:
        """The store, ready; blocks."""
        made = self._store is None
        store = made_by(self._settings.factory, self._embedder) if made else self._store
        store = checked(store, "the given store is")
        profile = profile_of(store, self._settings)
        score = profile.score
        return _OpenStore(store, profile, score if isinstance(score, ScoreKind) else score(store))

    async def _hits(self, request: KnowledgeSearchRequest) -> tuple[KnowledgeSearchHit, ...]:
        """The best hits in scope, ties by id."""
        state = self._states()
        wanted = min(request.top_k, MAX_HITS)
        with translated(self._name, self._settings.timeout_seconds):
            opened = await state.store.get()
            arguments = filter_arguments(
                opened.profile.filter, request.scope, request.hint_filter, opened.store
            )
            limit = min(wanted + _SPARE, MAX_HITS)
            while wanted > 0:
                found = await self._ask(state, opened, request, {**arguments, "k": limit})
                kept = [
                    one
                    for one in found
                    # A second line: not every store tells 3 from "3", or minds the filter at all.
                    if is_allowed(one[0].metadata, request.scope, request.hint_filter)
                ]
                hits = [_hit(document, number, opened) for document, number in kept]
                goodness = [opened.score.goodness(number) for _, number in kept]
                order = sorted(
                    range(len(hits)), key=lambda n: (-goodness[n], _place(hits[n].id), n)
                )
                settled = len(kept) > wanted and (
                    goodness[order[wanted - 1]] != goodness[order[-1]]
                )
                if settled or len(found) < limit or limit == MAX_HITS:
                    return tuple(
                        _ranked(hits[n], rank) for rank, n in enumerate(order[:wanted], start=1)
                    )
                limit = min(limit * 4, MAX_HITS)
        return ()

    async def _ask(
        self,
        state: _LoopState,
        opened: _OpenStore,
        request: KnowledgeSearchRequest,
        arguments: dict[str, Any],
    ) -> "list[tuple[Document, float]]":
        """One question to the store, with the query's vector as it stands in the request."""
        assert request.vector is not None
        profile = opened.profile
        if profile.by_vector:
            method = getattr(opened.store, profile.by_vector)
            subject: Any = request.vector.tolist()
        else:
            method = _method_by_text(opened.store, profile)
            subject = clean(cut(request.query, MAX_QUERY_CHARACTERS))
        options = {**profile.options, **arguments}
        async with asyncio.timeout(self._settings.timeout_seconds):
            with running(request.vector):
                if iscoroutinefunction(method):
                    found = await method(subject, **options)
                else:
                    found = await state.workers.start(lambda: method(subject, **options))
            if not found and not isinstance(profile.score, ScoreKind):
                # Asked again, since some take a collection that is gone for an empty one.
                ask_index = profile.score
                await state.workers.start(lambda: ask_index(opened.store))
        return list(found)


def _method_by_text(store: "VectorStore", profile: StoreProfile) -> Callable[..., Any]:
    """The store's own method, asynchronous if it has one: the inherited one runs in a thread."""
    from langchain_core.vectorstores import VectorStore

    name = "similarity_search_with_score"
    if profile.score is ScoreKind.RELEVANCE:
        return store.similarity_search_with_relevance_scores
    inherited = getattr(VectorStore, f"a{name}")
    has_own = getattr(type(store), f"a{name}") is not inherited
    return getattr(store, f"a{name}" if has_own else name)  # type: ignore[no-any-return]


def _hit(document: "Document", number: float, opened: _OpenStore) -> KnowledgeSearchHit:
    score = opened.score.similarity(float(number))
    return KnowledgeSearchHit(
        id=_id(document, opened),
        content=document.page_content,
        score=score,
        # A store in memory gives the very object that it keeps.
        metadata=deepcopy(document.metadata),
        similarity_score=score,
    )


def _id(document: "Document", opened: _OpenStore) -> str | None:
    """The document's id or the primary key among its metadata."""
    key = getattr(opened.store, opened.profile.key, "") if opened.profile.key else ""
    found = document.id if document.id is not None else document.metadata.get(key)
    return None if found is None else str(found)


def _ranked(hit: KnowledgeSearchHit, rank: int) -> KnowledgeSearchHit:
    return evolve(hit, found_by=(FoundBy(SearchMode.DENSE, rank),))


def _place(hit_id: str | None) -> tuple[bool, str]:
    return hit_id is None, hit_id or ""


def _closers(opened: _OpenStore) -> list[Callable[[], Any]]:
    """How the store is closed: LangChain has no way for all."""
    store: Any = opened.store
    owner = getattr(store, opened.profile.own_client) if opened.profile.own_client else store
    close = getattr(owner, "aclose", None) or getattr(owner, "close", None)
    return [close] if callable(close) else []


def _close_now(opened: _OpenStore) -> None:
    for close in _closers(opened):
        if not iscoroutinefunction(close):
            close()
