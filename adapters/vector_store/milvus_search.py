"""The shipped wiring: the rows of the `milvus` collection, fetched by `langchain-milvus`."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, cast

from evidence_lookup.adapters.merging import Merger
from evidence_lookup.adapters.milvus import search
from evidence_lookup.adapters.milvus.client import MilvusConnection
from evidence_lookup.adapters.milvus.driver import Driver, open_driver
from evidence_lookup.adapters.milvus.fetch import Row, RowQuery
from evidence_lookup.adapters.milvus.query_words import MAX_QUERY_CHARACTERS
from evidence_lookup.adapters.milvus.settings import MilvusSettings
from evidence_lookup.adapters.vector_store.langchain import lookup_embeddings
from evidence_lookup.adapters.vector_store.scores import as_similarity, similarity_semantics
from evidence_lookup.adapters.vector_store.store_hits import as_reported
from evidence_lookup.adapters.vector_store.store_search import PATH, probe_vector
from evidence_lookup.adapters.vector_store.workers import OpenedOnce, Workers
from evidence_lookup.domain.errors import MissingExtraError
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
    SearchCapabilities,
)

if TYPE_CHECKING:
    from evidence_lookup.adapters.vector_store.milvus_stores import AttachedMilvus


class MilvusStoreSearch:
    """`KnowledgeSearchPort` over the `milvus` collection by LangChain's stores.

    The collection is opened, checked and guarded as the SDK path does it, and what a row is, and
    which rows count, is decided by the same code.
    """

    def __init__(self, settings: MilvusSettings, embedder: Embedder, merger: Merger) -> None:
        self._connection = MilvusConnection(settings, self._open)
        self._embedder = embedder
        self._merger = merger

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """As `KnowledgeSearchPort.search`; ties beyond 16,384 equal rows are the server's."""
        response = await search.search(
            self._connection,
            request,
            merger=self._merger,
            fetch=_fetch,
            reported=as_similarity,
            path=PATH,
        )
        return as_reported(response) if response.mode is SearchMode.DENSE else response

    async def probe(self) -> SearchCapabilities:
        """As `KnowledgeSearchPort.probe`; opens the stores and searches for one row each time."""
        layout = await self._connection.known_layout.get(fresh=True)
        modes = frozenset(SearchMode) if layout.has_keyword else frozenset({SearchMode.DENSE})

        async def open_stores(driver: Driver) -> None:
            for mode in modes - {SearchMode.HYBRID}:
                await cast("_WithStores", driver).store(mode)

        await self._connection.call(open_stores)
        query = RowQuery(SearchMode.DENSE, probe_vector(layout.dimension), "", "", limit=1)
        await _fetch(self._connection, query)
        return SearchCapabilities(
            path=PATH,
            dimension=layout.dimension,
            semantics=similarity_semantics(layout.semantics),
            modes=modes,
            max_top_k=search.MAX_ROWS,
            max_query_characters=MAX_QUERY_CHARACTERS,
            embedder=layout.model,
        )

    async def aclose(self) -> None:
        """Close the clients of the running loop; repeating is safe."""
        await self._connection.aclose()

    async def _open(self, settings: MilvusSettings, uri: str) -> Driver:
        driver = await open_driver(settings, uri)
        return cast("Driver", _WithStores(driver, settings, uri, self._embedder))


class _WithStores:
    """The driver's client, with the stores on the same collection, opened when first asked."""

    def __init__(
        self, driver: Driver, settings: MilvusSettings, uri: str, embedder: Embedder
    ) -> None:
        self._driver = driver
        self._workers = Workers()

        def make(mode: SearchMode) -> "AttachedMilvus":
            return _made(mode, settings, uri, driver, embedder)

        self._stores = {
            mode: OpenedOnce(
                lambda mode=mode: make(mode),  # type: ignore[misc]
                lambda store: store.client.close(),
                self._workers,
                seconds=settings.timeout_seconds,
            )
            for mode in (SearchMode.DENSE, SearchMode.KEYWORD)
        }

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    async def store(self, mode: SearchMode) -> "AttachedMilvus":
        """The store that searches in *mode*, dense or keyword."""
        return await self._stores[mode].get()

    async def close(self) -> None:
        """Close the client and the stores' own ones, all of them though one fails."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._driver.close)
            for one in self._stores.values():
                store = one.take()
                if store is not None:
                    stack.push_async_callback(self._workers.run, store.client.close)


def _made(
    mode: SearchMode, settings: MilvusSettings, uri: str, driver: Driver, embedder: Embedder
) -> "AttachedMilvus":
    embeddings = lookup_embeddings(embedder)
    try:
        from evidence_lookup.adapters.vector_store import milvus_stores
    except ImportError as error:
        raise MissingExtraError("vectorstore", "the VectorStore path over Milvus") from error
    if mode is SearchMode.KEYWORD:
        return milvus_stores.keyword_store(settings, uri, driver)
    return milvus_stores.dense_store(settings, uri, driver, embeddings)


async def _fetch(connection: MilvusConnection, query: RowQuery) -> Sequence[Row]:
    """As `fetch.Fetch`, by the store of the query's mode."""
    settings = connection.settings

    async def ask(driver: Driver) -> Sequence[Row]:
        stores = cast("_WithStores", driver)
        async with asyncio.timeout(settings.timeout_seconds):
            store: Any = await stores.store(query.mode)
            # Set for each call, since keyword hits may come with their vector or without it.
            store.fields = [settings.id_field, *query.output_fields(settings)]
            options: dict[str, Any] = {
                "k": query.limit,
                "expr": query.expression,
                "param": {},
                "consistency_level": settings.consistency,
            }
            if query.mode is SearchMode.KEYWORD:
                found = await store.asimilarity_search_with_score(query.text, **options)
            else:
                found = await store.asimilarity_search_with_score_by_vector(query.data(), **options)
        return [
            {
                "id": document.metadata[settings.id_field],
                "distance": distance,
                "entity": {**document.metadata, settings.content_field: document.page_content},
            }
            for document, distance in found
        ]

    return await connection.call(ask)
