"""The VectorStore path on a Milvus server: its contract, and the same hits as the SDK path."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from uuid import uuid4

import numpy as np
import pytest
from tests.servers import Server

from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.milvus import MilvusKnowledge, MilvusSettings
from evidence_lookup.adapters.milvus.driver import pymilvus
from evidence_lookup.adapters.vector_store import VectorStoreKnowledge, VectorStoreSettings
from evidence_lookup.domain.errors import (
    BackendError,
    BackendTimeoutError,
    BackendUnavailableError,
    DimensionMismatchError,
    EmbedderMismatchError,
)
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.score import ScoreSemantics
from evidence_lookup.testing.knowledge_contract import Knowledge
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL, asked, embedded, unit
from evidence_lookup.testing.paired_knowledge import PairedKnowledge
from evidence_lookup.testing.search_filter_contract import SearchFilterContract
from evidence_lookup.testing.search_identity_contract import SearchIdentityContract
from evidence_lookup.testing.search_input_contract import SearchInputContract
from evidence_lookup.testing.search_lifecycle_contract import SearchLifecycleContract
from evidence_lookup.testing.search_ranking_contract import SearchRankingContract


def stores(settings: MilvusSettings) -> VectorStoreKnowledge:
    """The shipped wiring on the collection of *settings*."""
    embedder = MemoryEmbedder(dimension=DIMENSION)
    return VectorStoreKnowledge(VectorStoreSettings(), milvus=settings, embedder=embedder)


@pytest.fixture(scope="session")
def modes_of_server(milvus_server: Server) -> frozenset[SearchMode]:
    """The modes that the server must have: from 2.5 on it knows keywords."""
    client = pymilvus().MilvusClient(milvus_server.url, timeout=10, dedicated=True)
    version = str(client.get_server_version())
    client.close()
    numbers = re.findall(r"\d+", version)
    has_keyword = (int(numbers[0]), int(numbers[1])) >= (2, 5)
    return frozenset(SearchMode) if has_keyword else frozenset({SearchMode.DENSE})


class TestOverMilvusServer(
    SearchRankingContract,
    SearchIdentityContract,
    SearchFilterContract,
    SearchInputContract,
    SearchLifecycleContract,
):
    """The shipped wiring on a server keeps the search contract.

    Generated injections are left to the embedded database, which is asked with the same
    expressions: a search takes 20 ms here.
    """

    semantics = frozenset({ScoreSemantics.COSINE})

    @pytest.fixture
    async def knowledge(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, milvus_server: Server, modes_of_server: frozenset[SearchMode]
    ) -> AsyncIterator[Knowledge]:
        """The same collection for each test, empty: making one takes two seconds."""
        self.modes = modes_of_server
        settings = MilvusSettings(
            milvus_server.url, collection="evidence_lookup_stores", timeout_seconds=60
        )
        store, search = MilvusKnowledge(settings), stores(settings)
        knowledge = PairedKnowledge(search, store, close=search.aclose)
        try:
            await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        except (EmbedderMismatchError, DimensionMismatchError):
            await knowledge.drop()
            await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        yield knowledge
        with suppress(BackendError, DimensionMismatchError):
            hits = (await store.search(asked(top_k=16_384))).hits
            await knowledge.delete_documents([str(hit.metadata["doc_id"]) for hit in hits])
        await knowledge.aclose()


@pytest.mark.parametrize("metric", ["COSINE", "IP", "L2"])
async def test_R33_the_same_hits_as_the_sdk_path(milvus_server: Server, metric: str) -> None:
    """On a server's graph index too, ids, order and similarity agree, beyond its default width."""
    settings = MilvusSettings(
        milvus_server.url, collection=f"t{uuid4().hex}", metric=metric, timeout_seconds=60
    )
    sdk, path = MilvusKnowledge(settings), stores(settings)
    await sdk.prepare(model=MODEL, dimension=DIMENSION)
    generator = np.random.default_rng(11)
    await sdk.upsert(
        [embedded(f"d{n:03}", vector=unit(*generator.normal(size=DIMENSION))) for n in range(200)]
    )
    for top_k in (5, 100):
        request = asked(vector=unit(1, 0.2, 0.3, -0.1), top_k=top_k)
        ours, theirs = (await sdk.search(request)).hits, (await path.search(request)).hits
        assert len(ours) == top_k
        assert [hit.id for hit in theirs] == [hit.id for hit in ours]
        assert [hit.score.similarity for hit in theirs] == pytest.approx(
            [hit.score.similarity for hit in ours], abs=1e-5
        )
        assert ScoreSemantics.L2_SQUARED not in {hit.score.semantics for hit in theirs}
    await sdk.drop()
    await path.aclose()
    await sdk.aclose()


@pytest.mark.parametrize("is_open", [True, False])
async def test_a_paused_server_ends_in_time(milvus_server: Server, is_open: bool) -> None:
    """Frozen before or after it was opened, every search ends in its time; later ones serve."""
    collection = f"t{uuid4().hex}"
    sdk = MilvusKnowledge(
        MilvusSettings(milvus_server.url, collection=collection, timeout_seconds=60)
    )
    await sdk.prepare(model=MODEL, dimension=DIMENSION)
    await sdk.upsert([embedded("a")])
    path = stores(MilvusSettings(milvus_server.url, collection=collection, timeout_seconds=2))
    if is_open:
        await path.search(asked())
    with milvus_server.paused():
        began = time.perf_counter()
        outcomes = await asyncio.gather(
            *(path.search(asked()) for _ in range(12)), return_exceptions=True
        )
        took = time.perf_counter() - began
    assert {type(one) for one in outcomes} <= {BackendTimeoutError, BackendUnavailableError}
    assert "milvus." in str(outcomes[0])
    assert took < 8
    assert len((await path.search(asked())).hits) == 1
    await sdk.drop()
    await path.aclose()
    await sdk.aclose()
