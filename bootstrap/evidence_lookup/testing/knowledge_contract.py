"""What the suites for the two sides of a knowledge base share."""

from typing import Protocol

import pytest

from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.score import ScoreSemantics
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchPort,
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
)
from evidence_lookup.ports.knowledge_store import EmbeddedChunk, KnowledgeStore
from evidence_lookup.testing.knowledge_samples import asked
from evidence_lookup.testing.response_check import check_response


class Knowledge(KnowledgeSearchPort, KnowledgeStore, Protocol):
    """Both sides of one knowledge base, which can be closed."""

    async def aclose(self) -> None:
        """Close what the running event loop has open; the next call opens it anew.

        Closing twice is safe. Calls that run meanwhile end: with their result, or with a
        `BackendError`.
        """
        ...


class KnowledgeContract:
    """The fixture that an adapter gives, and the hooks by which it tells what it is."""

    modes: frozenset[SearchMode] = frozenset(SearchMode)
    """The modes that the adapter can run; the others must degrade to dense."""

    semantics: frozenset[ScoreSemantics] = frozenset(
        {
            ScoreSemantics.COSINE, ScoreSemantics.INNER_PRODUCT, ScoreSemantics.L2_SQUARED,
            ScoreSemantics.RELEVANCE,
        }
    )  # fmt: skip
    """What a dense score may mean; an adapter over a VectorStore leaves out distances (R33)."""

    patience: float = 2.0
    """Seconds within which a call that was given up must have ended."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        """The event loop of the asynchronous tests."""
        return "asyncio"

    @pytest.fixture
    async def knowledge(self) -> Knowledge:
        """An EMPTY collection of `DIMENSION`, prepared for `MODEL`; every adapter gives its own."""
        raise NotImplementedError

    async def settle(self, knowledge: Knowledge) -> None:
        """Wait until writes can be read; most adapters need not."""

    async def write_foreign(self, knowledge: Knowledge, chunk: EmbeddedChunk) -> None:
        """Write *chunk* as another program would have: its metadata may be any JSON.

        Override it where `upsert` refuses or mends what the product itself never writes.
        """
        await knowledge.upsert([chunk])

    async def ask(
        self, knowledge: Knowledge, request: KnowledgeSearchRequest
    ) -> KnowledgeSearchResponse:
        """What a search gives, checked for all that holds of every response."""
        await self.settle(knowledge)
        response = await knowledge.search(request)
        check_response(response, request)
        return response

    async def found(self, knowledge: Knowledge, request: KnowledgeSearchRequest) -> list[str]:
        """The ids that a search gives, in order."""
        return [str(hit.id) for hit in (await self.ask(knowledge, request)).hits]

    async def stored(self, knowledge: Knowledge) -> dict[str, str]:
        """Every chunk's key and content."""
        hits = (await self.ask(knowledge, asked(top_k=1_000))).hits
        return {str(hit.id): hit.content for hit in hits}

    def needs(self, mode: SearchMode) -> None:
        """Skip a test of a mode that the adapter does not have."""
        if mode not in self.modes:
            pytest.skip(f"this adapter has no {mode} mode")
