"""The knowledge contracts on a real Elasticsearch."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from tests.servers import Server

from evidence_lookup.adapters.elasticsearch import ElasticsearchKnowledge, ElasticsearchSettings
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL
from evidence_lookup.testing.knowledge_search_contract import Knowledge, KnowledgeSearchContract
from evidence_lookup.testing.knowledge_store_contract import KnowledgeStoreContract


class InElasticsearch:
    """Gives each test an index of its own, dropped after it."""

    @pytest.fixture
    async def knowledge(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, elasticsearch_server: Server
    ) -> AsyncIterator[Knowledge]:
        """An empty, prepared index."""
        settings = ElasticsearchSettings(
            elasticsearch_server.url, index=f"t{uuid4().hex}", timeout_seconds=60
        )
        knowledge = ElasticsearchKnowledge(settings)
        await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        yield knowledge
        await knowledge.drop()
        await knowledge.aclose()


class TestElasticsearchSearch(InElasticsearch, KnowledgeSearchContract):
    """Elasticsearch keeps the search contract."""


class TestElasticsearchStore(InElasticsearch, KnowledgeStoreContract):
    """Elasticsearch keeps the store contract."""
