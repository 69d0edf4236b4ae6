"""Elasticsearch as both sides of the knowledge base."""

from collections.abc import Sequence

from evidence_lookup.adapters.elasticsearch import search, store
from evidence_lookup.adapters.elasticsearch.client import ElasticsearchConnection
from evidence_lookup.adapters.elasticsearch.query import MAX_QUERY_CHARACTERS
from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings
from evidence_lookup.adapters.merging import Merger
from evidence_lookup.domain.fusion import Fusion, reciprocal_rank
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
    SearchCapabilities,
)
from evidence_lookup.ports.knowledge_store import EmbeddedChunk


class ElasticsearchKnowledge:
    """One index as `KnowledgeSearchPort` and `KnowledgeStore`.

    Opened on first use, in the running event loop, and closed by `aclose` or with the loop; after
    that the next call opens it anew. *fusion* makes one list of two in a hybrid search, with the
    weights *dense_weight* and *keyword_weight*, from 0. Keyword searches need nothing but the
    server's core: no analyzer of a plugin, no paid feature.
    """

    def __init__(
        self,
        settings: ElasticsearchSettings,
        *,
        fusion: Fusion = reciprocal_rank,
        dense_weight: float = 1.0,
        keyword_weight: float = 1.0,
    ) -> None:
        self._connection = ElasticsearchConnection(settings)
        self._merger = Merger(fusion, dense_weight, keyword_weight)

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """As `KnowledgeSearchPort.search`; ties beyond 10,000 equal rows are the server's.

        Raises:
            SchemaMismatchError, ScopeError: an index that others made cannot be filtered as asked.
        """
        return await search.search(self._connection, request, merger=self._merger)

    async def probe(self) -> SearchCapabilities:
        """As `KnowledgeSearchPort.probe`; asks the server each time."""
        layout = await self._connection.known_layout.get(fresh=True)
        keyword = (
            set[SearchMode]()
            if layout.keyword_field is None
            else {SearchMode.KEYWORD, SearchMode.HYBRID}
        )
        return SearchCapabilities(
            path=search.PATH,
            dimension=layout.dimension,
            semantics=layout.semantics,
            modes=frozenset({SearchMode.DENSE, *keyword}),
            max_top_k=search.MAX_ROWS,
            max_query_characters=MAX_QUERY_CHARACTERS,
            embedder=layout.model,
        )

    async def prepare(self, *, model: str, dimension: int) -> bool:
        """As `KnowledgeStore.prepare`."""
        return await store.prepare(self._connection, model=model, dimension=dimension)

    async def upsert(self, chunks: Sequence[EmbeddedChunk]) -> None:
        """As `KnowledgeStore.upsert`; of chunks with one key the last one stays."""
        await store.upsert(self._connection, chunks)

    async def replace_document(self, doc_id: str, chunks: Sequence[EmbeddedChunk]) -> None:
        """As `KnowledgeStore.replace_document`, for any number of chunks.

        One step in an index of this product; in one that others made its own refreshes can fall
        between.
        """
        await store.replace_document(self._connection, doc_id, chunks)

    async def delete_documents(self, doc_ids: Sequence[str]) -> None:
        """As `KnowledgeStore.delete_documents`."""
        await store.delete_documents(self._connection, doc_ids)

    async def drop(self) -> None:
        """As `KnowledgeStore.drop`."""
        await store.drop(self._connection)

    async def aclose(self) -> None:
        """Close the client of the running loop; closing twice is safe."""
        await self._connection.aclose()
