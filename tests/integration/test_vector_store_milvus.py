"""The shipped wiring, langchain-milvus, beside the SDK path on one embedded collection."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.milvus import MilvusKnowledge, MilvusSettings
from evidence_lookup.adapters.milvus import embedded as embedded_database
from evidence_lookup.adapters.milvus.driver import pymilvus
from evidence_lookup.adapters.vector_store import VectorStoreKnowledge, VectorStoreSettings
from evidence_lookup.adapters.vector_store.scores import as_similarity
from evidence_lookup.domain.errors import (
    BackendFailedError,
    BackendTimeoutError,
    BackendUnavailableError,
    CollectionMissingError,
    DimensionMismatchError,
    MissingExtraError,
    SchemaMismatchError,
)
from evidence_lookup.domain.filters import HintFilter, Scope
from evidence_lookup.domain.fusion import Fusion, reciprocal_rank, relative_score
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.identity import identify
from evidence_lookup.domain.score import ScoreSemantics
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL, asked, embedded, unit
from evidence_lookup.testing.response_check import check_response

_SDK = pymilvus()
_STORES = "evidence_lookup.adapters.vector_store.milvus_stores"
_WORDS = ("redis timeout retries", "redis cluster", "豆腐 tofu", "timeout", "nothing of it")
_REPORTED = {
    "COSINE": ScoreSemantics.COSINE,
    "IP": ScoreSemantics.INNER_PRODUCT,
    "L2": ScoreSemantics.RELEVANCE,
}


class CountingEmbedder(MemoryEmbedder):
    """Counts every text."""

    def __init__(self, dimension: int = DIMENSION) -> None:
        super().__init__(dimension=dimension)
        self.count = 0

    async def embed_query(self, text: str) -> Any:
        """Counted."""
        self.count += 1
        return await super().embed_query(text)

    async def embed_passages(self, texts: Any) -> Any:
        """Counted."""
        self.count += len(texts)
        return await super().embed_passages(texts)


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """An embedded database, open for the whole test."""
    file = tmp_path / "knowledge.db"
    embedded_database.acquire(file)
    yield file
    embedded_database.release(file)


@asynccontextmanager
async def both(
    settings: MilvusSettings, embedder: MemoryEmbedder | None = None, **fusion: Any
) -> AsyncGenerator[tuple[MilvusKnowledge, VectorStoreKnowledge]]:
    """The SDK path and the VectorStore path on one collection."""
    sdk = MilvusKnowledge(settings, **fusion)
    stores = VectorStoreKnowledge(
        VectorStoreSettings(), milvus=settings, embedder=embedder or CountingEmbedder(), **fusion
    )
    yield sdk, stores
    await stores.aclose()
    await sdk.aclose()


async def fill(knowledge: MilvusKnowledge) -> None:
    """Forty chunks of eight documents, some replaced, with odd keys."""
    await knowledge.prepare(model=MODEL, dimension=DIMENSION)
    generator = np.random.default_rng(7)
    for number in range(8):
        name = f"d{number}" if number % 2 else f"it's {number}%"
        chunks = [
            embedded(
                name,
                n,
                _WORDS[(number + n) % len(_WORDS)],
                unit(*generator.normal(size=DIMENSION)),
                category=("ops", "food")[n % 2],
                tenant=("acme", "other")[number % 2],
            )
            for n in range(5)
        ]
        await knowledge.upsert(chunks)
        if number % 3 == 0:
            await knowledge.replace_document(name, chunks[:3])


@pytest.mark.parametrize("fusion", [reciprocal_rank, relative_score])
@pytest.mark.parametrize("metric", list(_REPORTED))
async def test_R33_the_same_hits_as_the_sdk_path(path: Path, metric: str, fusion: Fusion) -> None:
    """Ids, order, similarity and content agree in every mode; only L2 is called otherwise.

    Distances beyond a right angle are one relevance there, and so are ordered by id.
    """
    embedder = CountingEmbedder()
    settings = MilvusSettings(str(path), metric=metric)
    async with both(settings, embedder, fusion=fusion, keyword_weight=0.7) as (sdk, stores):
        await fill(sdk)
        ours, theirs = await sdk.probe(), await stores.probe()
        assert (theirs.path, theirs.semantics) == ("vectorstore", _REPORTED[metric])
        assert theirs.modes == ours.modes == frozenset(SearchMode)
        assert (theirs.dimension, theirs.embedder) == (ours.dimension, ours.embedder)
        for mode in SearchMode:
            for scope in (Scope(), Scope({"tenant": "acme"})):
                for category in (None, "ops"):
                    for top_k in (3, 40):
                        request = asked(
                            "redis timeout",
                            vector=unit(1, 0.3, -0.2, 0.1),
                            mode=mode,
                            top_k=top_k,
                            scope=scope,
                            category=category,
                        )
                        await _compare(sdk, stores, request, metric)
        assert embedder.count == 0


async def _compare(
    sdk: MilvusKnowledge, stores: VectorStoreKnowledge, request: KnowledgeSearchRequest, metric: str
) -> None:
    ours, theirs = await sdk.search(request), await stores.search(request)
    assert (theirs.mode, theirs.degraded) == (ours.mode, ours.degraded)
    assert ours.hits
    check_response(theirs, request)
    expected = list(ours.hits)
    if request.mode is SearchMode.DENSE:
        expected.sort(key=lambda hit: (-as_similarity(hit.score).goodness, str(hit.id)))
    assert [hit.id for hit in theirs.hits] == [hit.id for hit in expected]
    for a, b in zip(expected, theirs.hits, strict=True):
        assert (b.content, b.metadata) == (a.content, a.metadata)
        assert b.found_by == a.found_by or request.mode is SearchMode.DENSE
        assert a.similarity_score is not None
        assert b.similarity_score is not None
        assert b.similarity_score.semantics is _REPORTED[metric]
        assert b.similarity_score.similarity == pytest.approx(
            a.similarity_score.similarity, abs=1e-5
        )
        if request.mode is not SearchMode.DENSE:
            assert b.score.semantics is a.score.semantics
            assert b.score.value == pytest.approx(a.score.value, abs=1e-5)


async def make_theirs(
    path: Path, *, metric: str, id_type: Any = _SDK.DataType.VARCHAR, index: str = "FLAT"
) -> None:
    """A collection as a host's own code would make it, under names of its own."""
    client: Any = _SDK.AsyncMilvusClient(str(path), dedicated=True)
    schema = client.create_schema(auto_id=False)
    schema.add_field("pk", id_type, is_primary=True, max_length=64)
    schema.add_field("emb", _SDK.DataType.FLOAT_VECTOR, dim=3)
    schema.add_field("body", _SDK.DataType.VARCHAR, max_length=100)
    schema.add_field("meta", _SDK.DataType.JSON)
    schema.add_field("more", _SDK.DataType.INT64)
    indexes = client.prepare_index_params()
    params = {"nlist": 4} if index == "IVF_FLAT" else {}
    indexes.add_index("emb", index_type=index, metric_type=metric, params=params)
    await client.create_collection("theirs", schema=schema, index_params=indexes, timeout=20)
    rows: list[tuple[str, list[float], dict[str, Any]]] = [
        ("near", [1, 0, 0], {"docId": "a", "chunkIndex": "3", "tenant": "acme", "n": 3}),
        ("half", [0.6, 0.8, 0], {"doc_id": "b", "chunk_index": 0.0, "tenant": "acme", "n": 3.0}),
        ("other", [1, 0, 0], {"tenant": "other", "n": "3"}),
        ("bare", [-1, 0, 0], {}),
    ]
    is_text = id_type is _SDK.DataType.VARCHAR
    await client.upsert(
        "theirs",
        [
            {"pk": body if is_text else n, "emb": emb, "body": body, "meta": meta, "more": n}
            for n, (body, emb, meta) in enumerate(rows)
        ],
        timeout=20,
    )
    await client.close()


def theirs(path: Path, *, content_field: str = "body") -> MilvusSettings:
    """Settings for that collection."""
    return MilvusSettings(
        str(path),
        collection="theirs",
        id_field="pk",
        content_field=content_field,
        vector_field="emb",
        metadata_field="meta",
    )


def request(mode: SearchMode = SearchMode.DENSE, **scope: Any) -> KnowledgeSearchRequest:
    """A search for the first row's vector."""
    vector = np.array([1, 0, 0], dtype=np.float32)
    return KnowledgeSearchRequest("near", vector, 10, mode, Scope(scope))


@pytest.mark.parametrize(
    "id_type", [_SDK.DataType.VARCHAR, _SDK.DataType.INT64], ids=["text", "int"]
)
@pytest.mark.parametrize("index", ["FLAT", "IVF_FLAT", "AUTOINDEX"])
@pytest.mark.parametrize(
    ("metric", "scores"),
    [("COSINE", [1, 1, 0.6, -1]), ("IP", [1, 1, 0.6, -1]), ("L2", [1, 1, 0.6, 0])],
)
async def test_R31_a_collection_of_others(
    path: Path, metric: str, scores: list[float], index: str, id_type: Any
) -> None:
    """C41, R01, R02: any names, keys, metric and index; nothing of the collection is changed."""
    await make_theirs(path, metric=metric, id_type=id_type, index=index)
    before = await _description(path)
    async with both(theirs(path), MemoryEmbedder(dimension=3)) as (_, stores):
        capabilities = await stores.probe()
        assert (capabilities.dimension, capabilities.semantics) == (3, _REPORTED[metric])
        assert capabilities.modes == {SearchMode.DENSE}
        assert capabilities.embedder is None
        hits = (await stores.search(request())).hits
        assert [hit.content for hit in hits] == ["near", "other", "half", "bare"]
        assert [hit.score.value for hit in hits] == pytest.approx(scores, abs=1e-5)
        keys = [
            identify(hit.metadata, hit_id=hit.id, original_rank=rank).evidence_key
            for rank, hit in enumerate(hits, start=1)
        ]
        is_text = id_type is _SDK.DataType.VARCHAR
        other, bare = ("other", "bare") if is_text else ("2", "3")
        assert keys == ["a#chunk-3", f"vector:{other}", "b#chunk-0", f"vector:{bare}"]
        for mode in SearchMode:
            response = await stores.search(request(mode, tenant="acme"))
            assert [hit.content for hit in response.hits] == ["near", "half"]
            assert response.mode is SearchMode.DENSE
        assert [h.content for h in (await stores.search(request(n=3))).hits] == ["near"]
        assert [h.content for h in (await stores.search(request(n="3"))).hits] == ["other"]
    assert await _description(path) == before


async def _description(path: Path) -> str:
    """All that the database says of the collection and its indexes."""
    client: Any = _SDK.AsyncMilvusClient(str(path), dedicated=True)
    names = await client.list_indexes("theirs")
    indexes = [await client.describe_index("theirs", name) for name in names]
    described = await client.describe_collection("theirs")
    await client.close()
    return json.dumps([described["fields"], indexes], default=str, sort_keys=True)


async def test_R31_a_mismatch_names_both_sides(path: Path) -> None:
    """A field that is not there is named with its setting, as on the SDK path."""
    await make_theirs(path, metric="L2")
    async with both(theirs(path, content_field="text")) as (_, stores):
        for call in (stores.probe(), stores.search(request())):
            with pytest.raises(SchemaMismatchError, match=r"'text' \(milvus.content-field\)"):
                await call


async def test_C42_C67_missing_and_made_by_another(path: Path) -> None:
    """A missing collection is an error, never an empty answer; a wrong dimension names both."""
    async with both(theirs(path), MemoryEmbedder(dimension=3)) as (_, stores):
        for call in (stores.search(request()), stores.probe()):
            with pytest.raises(CollectionMissingError, match=r"'theirs' \(milvus.collection\)"):
                await call
        await make_theirs(path, metric="COSINE")
        assert len((await stores.search(request())).hits) == 4
        with pytest.raises(DimensionMismatchError, match=r"4 dimensions.*3") as caught:
            await stores.search(asked())
        assert caught.value.kind == "dimension_mismatch"


async def test_searches_and_writes_pass_one_gate(path: Path) -> None:
    """While the SDK path replaces a document, this path sees one version whole, in every mode."""
    async with both(MilvusSettings(str(path))) as (sdk, stores):
        await sdk.prepare(model=MODEL, dimension=DIMENSION)

        async def put(version: int) -> None:
            count = (9, 4)[version % 2]
            chunks = [embedded("a", n, f"word v{version}") for n in range(count)]
            await sdk.replace_document("a", chunks)

        await put(0)
        stop, seen = asyncio.Event(), 0

        async def watch(mode: SearchMode) -> None:
            nonlocal seen
            while not stop.is_set():
                hits = (await stores.search(asked("word", mode=mode, top_k=50))).hits
                versions = {hit.content for hit in hits}
                assert len(versions) == 1
                assert len(hits) == (9, 4)[int(versions.pop()[-1]) % 2]
                seen += 1

        watchers = [asyncio.create_task(watch(mode)) for mode in SearchMode]
        for version in range(1, 10):
            await put(version)
        stop.set()
        await asyncio.gather(*watchers)
        assert seen >= 3


def connections() -> tuple[int, int]:
    """How many connections the driver has of its own, asynchronous and blocking."""
    managers: Any = import_module("pymilvus.client.connection_manager")
    return (
        len(managers.AsyncConnectionManager.get_instance()._dedicated),
        len(managers.ConnectionManager.get_instance()._dedicated),
    )


@pytest.mark.parametrize("mode", SearchMode)
async def test_a_first_burst_leaves_no_connection(path: Path, mode: SearchMode) -> None:
    """However many searches come first at once, few connections are made and none stays."""
    async with both(MilvusSettings(str(path))) as (sdk, stores):
        await sdk.prepare(model=MODEL, dimension=DIMENSION)
        await sdk.upsert([embedded("a")])
        await sdk.aclose()
        before = connections()
        lists = 2 if mode is SearchMode.HYBRID else 1
        for _ in range(2):
            await asyncio.gather(*(stores.search(asked(mode=mode)) for _ in range(16)))
            assert connections() == (before[0] + 1, before[1] + lists)
            await stores.aclose()
            assert connections() == before


async def test_all_is_closed_though_one_part_fails(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that cannot be closed is told of, and leaves no other one open."""
    async with both(MilvusSettings(str(path))) as (sdk, stores):
        await sdk.prepare(model=MODEL, dimension=DIMENSION)
        await sdk.aclose()
        before = connections()
        await stores.search(asked(mode=SearchMode.HYBRID))
        close, closed = _SDK.MilvusClient.close, 0

        def fail_first(client: Any) -> None:
            nonlocal closed
            closed += 1
            close(client)
            if closed == 1:
                raise OSError("cannot close")

        monkeypatch.setattr(_SDK.MilvusClient, "close", fail_first)
        with pytest.raises(OSError, match="cannot close"):
            await stores.aclose()
        assert closed == 2
        assert connections() == before


@pytest.mark.parametrize("is_empty", [True, False])
async def test_the_probe_goes_through_the_stores(
    path: Path, monkeypatch: pytest.MonkeyPatch, is_empty: bool
) -> None:
    """Where a search would fail the probe fails alike: the library is missing, or broken."""
    async with both(MilvusSettings(str(path))) as (sdk, stores):
        await sdk.prepare(model=MODEL, dimension=DIMENSION)
        if not is_empty:
            await sdk.upsert([embedded("a")])
        with monkeypatch.context() as missing:
            missing.setitem(sys.modules, "langchain_milvus", None)
            missing.delitem(sys.modules, _STORES, raising=False)
            package = import_module(_STORES.rpartition(".")[0])
            missing.delattr(package, "milvus_stores", raising=False)
            for call in (stores.probe(), stores.search(asked())):
                with pytest.raises(MissingExtraError, match=r"evidence-lookup\[vectorstore\]"):
                    await call
        assert (await stores.probe()).modes == frozenset(SearchMode)
        own: Any = import_module("langchain_milvus").Milvus
        monkeypatch.delattr(own, "asimilarity_search_with_score_by_vector")
        for call in (stores.probe(), stores.search(asked())):
            with pytest.raises(BackendFailedError, match="asimilarity_search_with_score_by_vector"):
                await call


def child_of(path: Path) -> "subprocess.Popen[bytes]":
    """The process of the database's server, which this test has started."""
    manager: Any = import_module("milvus_lite.server_manager").server_manager_instance
    child: subprocess.Popen[bytes] = manager._servers[str(path)]._p
    return child


@pytest.mark.parametrize("is_open", [True, False])
async def test_a_frozen_server_ends_in_time(path: Path, is_open: bool) -> None:
    """Frozen before or after it was opened, each search ends in its time, and later ones serve."""
    async with both(MilvusSettings(str(path))) as (sdk, _):
        await sdk.prepare(model=MODEL, dimension=DIMENSION)
        await sdk.upsert([embedded("a")])
    async with both(MilvusSettings(str(path), timeout_seconds=2.0)) as (_, stores):
        if is_open:
            await stores.search(asked(mode=SearchMode.HYBRID))
        child = child_of(path)
        child.send_signal(signal.SIGSTOP)
        try:
            began = time.perf_counter()
            outcomes = await asyncio.gather(
                *(stores.search(asked(mode=mode)) for mode in SearchMode for _ in range(4)),
                return_exceptions=True,
            )
            took = time.perf_counter() - began
        finally:
            child.send_signal(signal.SIGCONT)
        assert {type(one) for one in outcomes} <= {BackendTimeoutError, BackendUnavailableError}
        assert any("milvus.timeout-seconds" in str(one) for one in outcomes)
        assert took < 8  # not 24: those that wait for one opening wait no longer than it
        for mode in SearchMode:
            assert len((await stores.search(asked(mode=mode))).hits) == 1


async def test_a_dead_server_is_told_and_started_again(path: Path) -> None:
    """The search that meets the dead server fails as unavailable; the next one serves."""
    async with both(MilvusSettings(str(path))) as (sdk, stores):
        await sdk.prepare(model=MODEL, dimension=DIMENSION)
        await sdk.upsert([embedded("a")])
        await stores.search(asked(mode=SearchMode.HYBRID))
        child = child_of(path)
        child.kill()
        child.wait(10)
        with pytest.raises(BackendUnavailableError, match=r"milvus.uri"):
            await stores.search(asked())
        for mode in SearchMode:
            assert len((await stores.search(asked(mode=mode))).hits) == 1


async def test_the_hint_filter_is_in_every_list(path: Path) -> None:
    """C35: scope and hint filter narrow the dense and the keyword list alike."""
    async with both(MilvusSettings(str(path))) as (sdk, stores):
        await fill(sdk)
        for mode in SearchMode:
            response = await stores.search(
                KnowledgeSearchRequest(
                    "redis timeout", unit(1), 40, mode, Scope({"tenant": "acme"}), HintFilter("ops")
                )
            )
            assert response.hits
            for hit in response.hits:
                assert (hit.metadata["tenant"], hit.metadata["category"]) == ("acme", "ops")
