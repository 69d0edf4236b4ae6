"""The knowledge contracts on a Milvus server, where one is given."""

import os
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from evidence_lookup.adapters.milvus import MilvusKnowledge, MilvusSettings
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL
from evidence_lookup.testing.knowledge_search_contract import Knowledge, KnowledgeSearchContract
from evidence_lookup.testing.knowledge_store_contract import KnowledgeStoreContract

_URI = os.environ.get("EVIDENCE_LOOKUP_TEST_MILVUS_URI", "")
_HAS_KEYWORD = os.environ.get("EVIDENCE_LOOKUP_TEST_MILVUS_KEYWORD", "") == "1"

if not _URI:
    pytest.skip("EVIDENCE_LOOKUP_TEST_MILVUS_URI names no Milvus server", allow_module_level=True)


class OnServer:
    """Gives each test a collection of its own, dropped after it."""

    @pytest.fixture
    async def knowledge(self) -> AsyncIterator[Knowledge]:
        """An empty, prepared collection."""
        settings = MilvusSettings(_URI, collection=f"t{uuid4().hex}", timeout_seconds=60)
        knowledge = MilvusKnowledge(settings)
        await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        yield knowledge
        await knowledge.drop()
        await knowledge.aclose()


class TestServerSearch(OnServer, KnowledgeSearchContract):
    """A server keeps the search contract; set EVIDENCE_LOOKUP_TEST_MILVUS_KEYWORD=1 from 2.5 on."""

    modes = frozenset(SearchMode) if _HAS_KEYWORD else frozenset({SearchMode.DENSE})


class TestServerStore(OnServer, KnowledgeStoreContract):
    """A server keeps the store contract."""
