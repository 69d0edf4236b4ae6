"""The knowledge contracts on a Milvus server, where one is given."""

import os
import socket
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from evidence_lookup.adapters.milvus import MilvusKnowledge, MilvusSettings
from evidence_lookup.domain.errors import BackendUnavailableError
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL, asked
from evidence_lookup.testing.knowledge_search_contract import Knowledge, KnowledgeSearchContract
from evidence_lookup.testing.knowledge_store_contract import KnowledgeStoreContract

_URI = os.environ.get("EVIDENCE_LOOKUP_TEST_MILVUS_URI", "")
_HAS_KEYWORD = os.environ.get("EVIDENCE_LOOKUP_TEST_MILVUS_KEYWORD", "") == "1"

on_a_server = pytest.mark.skipif(
    not _URI, reason="EVIDENCE_LOOKUP_TEST_MILVUS_URI names no Milvus server"
)


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


@on_a_server
class TestServerSearch(OnServer, KnowledgeSearchContract):
    """A server keeps the search contract; set EVIDENCE_LOOKUP_TEST_MILVUS_KEYWORD=1 from 2.5 on."""

    modes = frozenset(SearchMode) if _HAS_KEYWORD else frozenset({SearchMode.DENSE})


@on_a_server
class TestServerStore(OnServer, KnowledgeStoreContract):
    """A server keeps the store contract."""


async def test_nobody_listens() -> None:
    """A server that is not there is unavailable, at once, and named with its setting."""
    with socket.socket() as taken:  # bound, but not listening
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        await _is_unavailable(MilvusSettings(f"http://127.0.0.1:{port}"))


async def _is_unavailable(settings: MilvusSettings) -> None:
    knowledge = MilvusKnowledge(settings)
    for call in (knowledge.search(asked()), knowledge.probe()):
        with pytest.raises(BackendUnavailableError, match=r"127.0.0.1.*milvus.uri"):
            await call
    await knowledge.aclose()
