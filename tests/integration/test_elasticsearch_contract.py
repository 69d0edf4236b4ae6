"""The knowledge contracts on a real Elasticsearch."""

from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import pytest
from elasticsearch import AsyncElasticsearch, Elasticsearch
from tests.servers import Server

from evidence_lookup.adapters.elasticsearch import ElasticsearchKnowledge, ElasticsearchSettings
from evidence_lookup.domain.errors import DimensionMismatchError, EmbedderMismatchError
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL
from evidence_lookup.testing.knowledge_search_contract import Knowledge, KnowledgeSearchContract
from evidence_lookup.testing.knowledge_store_contract import KnowledgeStoreContract


@pytest.fixture(scope="session")
def shared_index(elasticsearch_server: Server) -> Iterator[str]:
    """The name of the index that the tests share, dropped after the last one."""
    name = f"t{uuid4().hex}"
    yield name
    with Elasticsearch(elasticsearch_server.url, request_timeout=60) as client:
        client.indices.delete(index=name, ignore_unavailable=True)


class InElasticsearch:
    """Gives each test the same index, empty: making one takes longer than most tests."""

    @pytest.fixture
    async def knowledge(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, elasticsearch_server: Server, shared_index: str
    ) -> AsyncIterator[Knowledge]:
        """An empty, prepared index."""
        settings = ElasticsearchSettings(
            elasticsearch_server.url, index=shared_index, timeout_seconds=60
        )
        knowledge = ElasticsearchKnowledge(settings)
        try:
            await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        except (EmbedderMismatchError, DimensionMismatchError):
            await knowledge.drop()
            await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        yield knowledge
        await knowledge.aclose()
        async with AsyncElasticsearch(elasticsearch_server.url, request_timeout=60) as client:
            await client.indices.refresh(index=shared_index, ignore_unavailable=True)
            there = await client.search(
                index=shared_index, size=10_000, source=False, ignore_unavailable=True
            )
            deletes = [{"delete": {"_id": hit["_id"]}} for hit in there["hits"]["hits"]]
            if deletes:
                await client.bulk(index=shared_index, operations=deletes, refresh=True)


class TestElasticsearchSearch(InElasticsearch, KnowledgeSearchContract):
    """Elasticsearch keeps the search contract."""


class TestElasticsearchStore(InElasticsearch, KnowledgeStoreContract):
    """Elasticsearch keeps the store contract."""
