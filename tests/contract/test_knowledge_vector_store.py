"""The VectorStore path keeps the search contract, over Milvus and over a store without a server."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.milvus import MilvusKnowledge, MilvusSettings
from evidence_lookup.adapters.milvus import embedded as embedded_database
from evidence_lookup.adapters.vector_store import VectorStoreKnowledge, VectorStoreSettings
from evidence_lookup.domain.errors import (
    BackendError,
    DimensionMismatchError,
    EmbedderMismatchError,
)
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.score import ScoreSemantics
from evidence_lookup.ports.knowledge_search import KnowledgeSearchPort
from evidence_lookup.ports.knowledge_store import EmbeddedChunk
from evidence_lookup.testing.knowledge_contract import Knowledge, KnowledgeContract
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL, asked, embedded
from evidence_lookup.testing.knowledge_search_contract import KnowledgeSearchContract
from evidence_lookup.testing.paired_knowledge import PairedKnowledge
from evidence_lookup.testing.search_ranking_contract import SearchRankingContract

_EMBEDDER = MemoryEmbedder(dimension=DIMENSION)
_SIMILARITIES = frozenset(
    {ScoreSemantics.COSINE, ScoreSemantics.INNER_PRODUCT, ScoreSemantics.RELEVANCE}
)


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One embedded database, held open for the session: starting one takes half a second."""
    path = tmp_path_factory.mktemp("milvus") / "knowledge.db"
    embedded_database.acquire(path)
    yield path
    embedded_database.release(path)


class OverMilvus(KnowledgeContract):
    """The shipped wiring on an embedded database, beside the SDK path that writes."""

    semantics = _SIMILARITIES
    metric = "COSINE"

    @pytest.fixture
    async def knowledge(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, database: Path
    ) -> AsyncIterator[Knowledge]:
        """An empty, prepared collection."""
        settings = MilvusSettings(
            str(database),
            collection=f"vs_{self.metric.lower()}",
            metric=self.metric,
            timeout_seconds=30,
        )
        store = MilvusKnowledge(settings)
        search = VectorStoreKnowledge(VectorStoreSettings(), milvus=settings, embedder=_EMBEDDER)
        knowledge = PairedKnowledge(search, store, close=search.aclose)
        try:
            await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        except EmbedderMismatchError:
            await knowledge.drop()
            await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        yield knowledge
        # Emptied, not dropped: making one takes a second.
        with suppress(BackendError, DimensionMismatchError):
            hits = (await store.search(asked(top_k=16_384))).hits
            await knowledge.delete_documents([str(hit.metadata["doc_id"]) for hit in hits])
        await knowledge.aclose()


class TestOverMilvus(OverMilvus, KnowledgeSearchContract):
    """The shipped wiring keeps the search contract in every mode."""


class TestOverMilvusL2(OverMilvus, SearchRankingContract):
    """R33: over an index of distances the ranking is the same, and similarities are reported."""

    metric = "L2"


class GivenVectors(Embeddings):
    """Embeds passages by the vectors it was given for them; no query comes here."""

    def __init__(self) -> None:
        self.given: dict[str, list[float]] = {}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The given ones."""
        return [self.given[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Never asked: the search brings its vector."""
        raise AssertionError(f"{text!r} was embedded again")


class StoreWriter:
    """The write side of an `InMemoryVectorStore`."""

    def __init__(self) -> None:
        self.vectors = GivenVectors()
        self.store = InMemoryVectorStore(self.vectors)

    async def search(self, request: Any) -> Any:
        """Not this side."""
        raise NotImplementedError

    async def probe(self) -> Any:
        """Not this side."""
        raise NotImplementedError

    async def prepare(self, *, model: str, dimension: int) -> bool:
        """Such a store has nothing to prepare."""
        return False

    async def upsert(self, chunks: Sequence[EmbeddedChunk]) -> None:
        """One document for each chunk."""
        for one in chunks:
            chunk = one.chunk
            self.vectors.given = {chunk.content: one.vector.tolist()}
            document = Document(
                page_content=chunk.content, metadata=chunk.metadata(), id=chunk.evidence_key
            )
            self.store.add_documents([document])

    async def replace_document(self, doc_id: str, chunks: Sequence[EmbeddedChunk]) -> None:
        """The old ones out, the new ones in."""
        await self.delete_documents([doc_id])
        await self.upsert(chunks)

    async def delete_documents(self, doc_ids: Sequence[str]) -> None:
        """By their metadata."""
        found = [
            key
            for key, one in self.store.store.items()
            if cast("dict[str, Any]", one["metadata"])["doc_id"] in doc_ids
        ]
        self.store.delete(found)

    async def drop(self) -> None:
        """Everything out."""
        self.store.store.clear()

    async def aclose(self) -> None:
        """It holds nothing."""


def over(store: InMemoryVectorStore) -> VectorStoreKnowledge:
    """The path over a host's own store."""
    return VectorStoreKnowledge(
        VectorStoreSettings(), milvus=MilvusSettings(), embedder=_EMBEDDER, store=store
    )


class TestOverInMemoryVectorStore(KnowledgeSearchContract):
    """A host's own store of a class without a server keeps the contract by vectors alone."""

    modes = frozenset({SearchMode.DENSE})
    semantics = frozenset({ScoreSemantics.COSINE})

    @pytest.fixture
    async def knowledge(self) -> Knowledge:
        """An empty store."""
        writer = StoreWriter()
        search = over(writer.store)
        return PairedKnowledge(search, writer, close=search.aclose)

    async def test_C67_missing_collection(self, knowledge: Knowledge) -> None:
        """Such a store has no collection that could be missing: dropped, it is empty."""
        await knowledge.drop()
        assert await self.found(knowledge, asked()) == []

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_C67_a_collection_that_vanishes(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """Emptied elsewhere, such a store is empty at once."""
        await knowledge.upsert([embedded("a")])
        assert await self.found(knowledge, asked(mode=mode)) == ["a#chunk-0"]
        await knowledge.drop()
        assert await self.found(knowledge, asked(mode=mode)) == []

    async def test_C42_a_collection_that_is_made_anew(self, knowledge: Knowledge) -> None:
        """Such a store checks no dimension; of one filled by another model both are named."""
        writer = StoreWriter()
        other = np.array([1, 0, 0], dtype=np.float32)
        await writer.upsert([embedded("a", vector=other)])
        search = over(writer.store)
        for call in (search.probe(), search.search(asked())):
            with pytest.raises(DimensionMismatchError, match="InMemoryVectorStore") as caught:
                await call
            assert (caught.value.expected, caught.value.actual) == (3, DIMENSION)
        await writer.drop()  # empty, it takes any
        assert (await search.search(asked())).hits == ()
        await search.aclose()

    async def test_probe(self, knowledge: Knowledge) -> None:
        """The model that filled such a store is not known; all else is."""
        capabilities = await knowledge.probe()
        assert capabilities.dimension == DIMENSION
        assert capabilities.embedder is None
        assert capabilities.max_top_k >= 1_000
        assert capabilities.path == "vectorstore"


_: type[KnowledgeSearchPort] = VectorStoreKnowledge
