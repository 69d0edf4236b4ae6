"""Two paths as one keep the search contract, whichever of them serves."""

import numpy as np
import pytest

from evidence_lookup.adapters.auto import AutoKnowledge
from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.memory.knowledge import MemoryKnowledge
from evidence_lookup.domain.errors import (
    BackendUnavailableError,
    DimensionMismatchError,
    EmbedderMismatchError,
)
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchPort,
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
    SearchCapabilities,
)
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL, asked, unit
from evidence_lookup.testing.knowledge_search_contract import Knowledge, KnowledgeSearchContract
from evidence_lookup.testing.paired_knowledge import PairedKnowledge


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


async def _prepared(first: KnowledgeSearchPort | None) -> Knowledge:
    memory = MemoryKnowledge()
    await memory.prepare(model=MODEL, dimension=DIMENSION)
    auto = AutoKnowledge(
        first or memory,
        memory,
        names=("first", "memory"),
        embedder=ContractEmbedder(dimension=DIMENSION),
        first_seconds=5,
        breaker_seconds=60,
    )
    await auto.probe()  # as at a start, so that a dead path is known
    return PairedKnowledge(auto, memory, close=auto.aclose)


class OverTwoPaths(KnowledgeSearchContract):
    """What differs where the adapter knows the embedder."""

    async def test_C42_a_collection_that_is_made_anew(self, knowledge: Knowledge) -> None:
        """One that is replaced by one of another model is never searched, with any vector."""
        await knowledge.drop()
        await knowledge.prepare(model="other@1", dimension=3)
        for vector in (unit(1), np.array([1, 0, 0], dtype=np.float32)):
            with pytest.raises((EmbedderMismatchError, DimensionMismatchError)):
                await knowledge.search(asked(vector=vector))


class TestFirstServes(OverTwoPaths):
    """The first path serves."""

    @pytest.fixture
    async def knowledge(self) -> Knowledge:
        """An empty, prepared collection."""
        return await _prepared(None)


class TestSecondServes(OverTwoPaths):
    """The first path is down from the start."""

    @pytest.fixture
    async def knowledge(self) -> Knowledge:
        """An empty, prepared collection."""
        return await _prepared(Dead())
