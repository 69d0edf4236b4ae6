"""Two paths as one keep the search contract, whichever of them serves."""

from collections.abc import Sequence

import pytest

from evidence_lookup.adapters.auto import AutoKnowledge
from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.memory.knowledge import MemoryKnowledge
from evidence_lookup.domain.errors import BackendUnavailableError
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchPort,
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
    SearchCapabilities,
)
from evidence_lookup.ports.knowledge_store import EmbeddedChunk
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL
from evidence_lookup.testing.knowledge_search_contract import Knowledge, KnowledgeSearchContract


class Dead:
    """A path that is down."""

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """Nobody answers."""
        raise BackendUnavailableError("down")

    async def probe(self) -> SearchCapabilities:
        """Nobody answers."""
        raise BackendUnavailableError("down")


class ContractEmbedder(MemoryEmbedder):
    """Passes as the model of the contract's collections."""

    @property
    def model(self) -> str:
        """The contract's."""
        return MODEL


class InMemoryBehindAuto:
    """One memory, searched through two paths."""

    def __init__(self, memory: MemoryKnowledge, first: KnowledgeSearchPort) -> None:
        self._memory = memory
        self._auto = AutoKnowledge(
            first,
            memory,
            names=("first", "memory"),
            embedder=ContractEmbedder(dimension=DIMENSION),
            first_seconds=5,
            breaker_seconds=60,
        )

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """Through the paths."""
        return await self._auto.search(request)

    async def probe(self) -> SearchCapabilities:
        """Through the paths."""
        return await self._auto.probe()

    async def prepare(self, *, model: str, dimension: int) -> bool:
        """Of the memory."""
        return await self._memory.prepare(model=model, dimension=dimension)

    async def upsert(self, chunks: Sequence[EmbeddedChunk]) -> None:
        """Of the memory."""
        await self._memory.upsert(chunks)

    async def replace_document(self, doc_id: str, chunks: Sequence[EmbeddedChunk]) -> None:
        """Of the memory."""
        await self._memory.replace_document(doc_id, chunks)

    async def delete_documents(self, doc_ids: Sequence[str]) -> None:
        """Of the memory."""
        await self._memory.delete_documents(doc_ids)

    async def drop(self) -> None:
        """Of the memory."""
        await self._memory.drop()

    async def aclose(self) -> None:
        """End the trials."""
        await self._auto.aclose()


async def _prepared(first: KnowledgeSearchPort | None) -> Knowledge:
    memory = MemoryKnowledge()
    await memory.prepare(model=MODEL, dimension=DIMENSION)
    made = InMemoryBehindAuto(memory, first or memory)
    await made.probe()  # as at a start, so that a dead path is known
    return made


class TestFirstServes(KnowledgeSearchContract):
    """The first path serves."""

    @pytest.fixture
    async def knowledge(self) -> Knowledge:
        """An empty, prepared collection."""
        return await _prepared(None)


class TestSecondServes(KnowledgeSearchContract):
    """The first path is down from the start."""

    @pytest.fixture
    async def knowledge(self) -> Knowledge:
        """An empty, prepared collection."""
        return await _prepared(Dead())
