"""A search adapter without a write side, made fit for the suites."""

from collections.abc import Awaitable, Callable, Sequence

from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchPort,
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
    SearchCapabilities,
)
from evidence_lookup.ports.knowledge_store import EmbeddedChunk
from evidence_lookup.testing.knowledge_contract import Knowledge


class PairedKnowledge:
    """Searches with *search*, writes with *store* into the same collection.

    *close* closes the search adapter, where it can be closed; the store is closed after it.
    """

    def __init__(
        self,
        search: KnowledgeSearchPort,
        store: Knowledge,
        *,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._search = search
        self._store = store
        self._close = close

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """As `KnowledgeSearchPort.search`, of the search adapter."""
        return await self._search.search(request)

    async def probe(self) -> SearchCapabilities:
        """As `KnowledgeSearchPort.probe`, of the search adapter."""
        return await self._search.probe()

    async def prepare(self, *, model: str, dimension: int) -> bool:
        """As `KnowledgeStore.prepare`, of the store."""
        return await self._store.prepare(model=model, dimension=dimension)

    async def upsert(self, chunks: Sequence[EmbeddedChunk]) -> None:
        """As `KnowledgeStore.upsert`, of the store."""
        await self._store.upsert(chunks)

    async def replace_document(self, doc_id: str, chunks: Sequence[EmbeddedChunk]) -> None:
        """As `KnowledgeStore.replace_document`, of the store."""
        await self._store.replace_document(doc_id, chunks)

    async def delete_documents(self, doc_ids: Sequence[str]) -> None:
        """As `KnowledgeStore.delete_documents`, of the store."""
        await self._store.delete_documents(doc_ids)

    async def drop(self) -> None:
        """As `KnowledgeStore.drop`, of the store."""
        await self._store.drop()

    async def aclose(self) -> None:
        """Close both."""
        if self._close is not None:
            await self._close()
        await self._store.aclose()
