"""Any VectorStore as the search side of the knowledge base."""

from typing import TYPE_CHECKING

from evidence_lookup.adapters.merging import Merger
from evidence_lookup.adapters.milvus.settings import MilvusSettings
from evidence_lookup.adapters.vector_store.milvus_search import MilvusStoreSearch
from evidence_lookup.adapters.vector_store.settings import VectorStoreSettings
from evidence_lookup.adapters.vector_store.store_search import StoreSearch
from evidence_lookup.domain.fusion import Fusion, reciprocal_rank
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
    SearchCapabilities,
)

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore


class VectorStoreKnowledge:
    """A LangChain VectorStore as `KnowledgeSearchPort`.

    The store is *store*, which the host has opened and closes itself; or what the function of
    ``vector-store.factory`` makes; or else `langchain-milvus` on the collection of *milvus*, with
    whatever modes that has. Any other store is searched by vectors alone. *embedder* embeds for
    the store; a query is not embedded again, since the request brings its vector. *fusion* makes
    one list of two in a hybrid search, with the weights *dense_weight* and *keyword_weight*.

    A store is opened on first use, in a thread, and closed by `aclose`; after that the next call
    opens it anew. Every score is a similarity, higher is better (R33).
    """

    def __init__(
        self,
        settings: VectorStoreSettings,
        *,
        milvus: MilvusSettings,
        embedder: Embedder,
        store: "VectorStore | None" = None,
        fusion: Fusion = reciprocal_rank,
        dense_weight: float = 1.0,
        keyword_weight: float = 1.0,
    ) -> None:
        self._search: StoreSearch | MilvusStoreSearch
        if store is not None or settings.factory:
            self._search = StoreSearch(settings, embedder, store)
        else:
            merger = Merger(fusion, dense_weight, keyword_weight)
            self._search = MilvusStoreSearch(milvus, embedder, merger)

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """As `KnowledgeSearchPort.search`.

        Raises:
            SettingsError: the factory is no function that makes a store, or the store's class is
                not known and ``vector-store.score`` and ``vector-store.filter`` are not set.
            ScopeError: the store cannot keep the scope or the hint filter.
            MissingExtraError: LangChain is not installed.
        """
        return await self._search.search(request)

    async def probe(self) -> SearchCapabilities:
        """As `KnowledgeSearchPort.probe`; raises as `search` does."""
        return await self._search.probe()

    async def aclose(self) -> None:
        """Close what the running loop has opened; closing twice is safe."""
        await self._search.aclose()
