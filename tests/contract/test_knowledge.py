"""The knowledge adapters against their contracts (C35, C44, C49 and C50 among their tests)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from evidence_lookup.adapters.memory.knowledge import MemoryKnowledge
from evidence_lookup.adapters.milvus import MilvusKnowledge, MilvusSettings
from evidence_lookup.adapters.milvus import embedded as embedded_database
from evidence_lookup.domain.errors import (
    CollectionMissingError,
    DimensionMismatchError,
    EmbedderMismatchError,
)
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL, asked, embedded
from evidence_lookup.testing.knowledge_search_contract import Knowledge, KnowledgeSearchContract
from evidence_lookup.testing.knowledge_store_contract import KnowledgeStoreContract
from evidence_lookup.testing.search_ranking_contract import SearchRankingContract


class InMemory:
    """Gives each test a memory of its own."""

    @pytest.fixture
    async def knowledge(self) -> Knowledge:
        """An empty, prepared collection."""
        knowledge = MemoryKnowledge()
        await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        return knowledge


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One embedded database, held open for the session: starting one takes half a second."""
    path = tmp_path_factory.mktemp("milvus") / "knowledge.db"
    embedded_database.acquire(path)
    yield path
    embedded_database.release(path)


class InMilvus:
    """Gives each test an empty collection in one embedded database."""

    metric = "COSINE"

    @pytest.fixture
    async def knowledge(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, database: Path
    ) -> AsyncIterator[Knowledge]:
        """An empty, prepared collection."""
        settings = MilvusSettings(
            str(database),
            collection=f"by_{self.metric}",
            metric=self.metric,
            timeout_seconds=30,
        )
        knowledge = MilvusKnowledge(settings)
        try:
            await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        except EmbedderMismatchError:
            await knowledge.drop()
            await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        yield knowledge
        # Emptied, not dropped: making one takes a second.
        with suppress(CollectionMissingError, DimensionMismatchError):
            hits = (await knowledge.search(asked(top_k=16_384))).hits
            await knowledge.delete_documents([hit.metadata["doc_id"] for hit in hits])
        await knowledge.aclose()


class TestMemorySearch(InMemory, KnowledgeSearchContract):
    """Memory keeps the search contract."""


class TestMemoryStore(InMemory, KnowledgeStoreContract):
    """Memory keeps the store contract."""


class TestMilvusSearch(InMilvus, KnowledgeSearchContract):
    """The embedded Milvus keeps the search contract."""


class TestMilvusSearchL2(InMilvus, SearchRankingContract):
    """Distances are ranked by the search contract, lower is better."""

    metric = "L2"


class TestMilvusSearchIP(InMilvus, SearchRankingContract):
    """Inner products are ranked by the search contract."""

    metric = "IP"


class TestMilvusStore(InMilvus, KnowledgeStoreContract):
    """The embedded Milvus keeps the store contract."""


def _in_memory(_: Path) -> Knowledge:
    return MemoryKnowledge()


def _in_milvus(folder: Path) -> Knowledge:
    return MilvusKnowledge(MilvusSettings(str(folder / "two-loops.db")))


@pytest.mark.parametrize("close", [True, False])
@pytest.mark.parametrize("make", [_in_memory, _in_milvus])
def test_two_event_loops_in_turn(
    make: Callable[[Path], Knowledge], close: bool, tmp_path: Path
) -> None:
    """One knowledge serves two event loops in turn, closed between them or not."""
    knowledge = make(tmp_path)

    async def write() -> None:
        await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        await knowledge.upsert([embedded("a")])
        if close:
            await knowledge.aclose()

    async def read() -> None:
        assert [hit.id for hit in (await knowledge.search(asked())).hits] == ["a#chunk-0"]
        await knowledge.aclose()

    asyncio.run(write())
    asyncio.run(read())
