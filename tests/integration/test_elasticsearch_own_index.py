"""An index that the product makes, on a real node, with faults put into it from outside."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from attrs import evolve
from elasticsearch import AsyncElasticsearch
from tests.servers import Server

from evidence_lookup.adapters.elasticsearch import (
    ElasticsearchKnowledge,
    ElasticsearchSettings,
    store,
)
from evidence_lookup.domain.document import Chunk
from evidence_lookup.domain.errors import (
    BackendFailedError,
    BackendUnavailableError,
    CollectionMissingError,
    StorageError,
)
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest
from evidence_lookup.ports.knowledge_store import EmbeddedChunk
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL, asked, embedded, unit


@pytest.fixture
async def client(elasticsearch_server: Server) -> AsyncIterator[AsyncElasticsearch]:
    """A hand from outside."""
    async with AsyncElasticsearch(elasticsearch_server.url, request_timeout=60) as made:
        yield made


@pytest.fixture
async def settings(
    elasticsearch_server: Server, client: AsyncElasticsearch
) -> AsyncIterator[ElasticsearchSettings]:
    """An index that is not there yet, dropped after the test."""
    given = ElasticsearchSettings(
        elasticsearch_server.url, index=f"own-{uuid4().hex}", timeout_seconds=60
    )
    yield given
    await client.indices.delete(index=given.index, ignore_unavailable=True)


@pytest.fixture
async def knowledge(settings: ElasticsearchSettings) -> AsyncIterator[ElasticsearchKnowledge]:
    """An empty, prepared index."""
    made = ElasticsearchKnowledge(settings)
    await made.prepare(model=MODEL, dimension=DIMENSION)
    yield made
    await made.aclose()


async def stored(knowledge: ElasticsearchKnowledge, **scope: str) -> dict[str, str]:
    """Every chunk that a search sees."""
    response = await knowledge.search(asked(top_k=1_000, scope=Scope(scope)))
    return {str(hit.id): hit.content for hit in response.hits}


async def put(
    client: AsyncElasticsearch, index: str, one: EmbeddedChunk, *, version: int, refresh: bool
) -> None:
    """Write a row as another process would."""
    row = {
        "content": one.chunk.content, "vector": one.vector.tolist(), "keyword_text": "text",
        "metadata": one.chunk.metadata(), "doc_id": one.chunk.doc_id, "version": version,
        "evidence_key": one.chunk.evidence_key,
    }  # fmt: skip
    await client.index(index=index, id=one.chunk.evidence_key, document=row, refresh=refresh)


async def test_what_an_interrupted_write_left_is_cleared(
    client: AsyncElasticsearch, settings: ElasticsearchSettings, knowledge: ElasticsearchKnowledge
) -> None:
    """Rows that a killed process wrote are not seen, and gone after the document's next write."""
    await knowledge.replace_document("a", [embedded("a", n, "old") for n in range(2)])
    for n in range(5):
        row = embedded("a", n, "killed")
        await put(client, settings.index, row, version=2**62, refresh=False)
    assert await stored(knowledge) == {"a#chunk-0": "old", "a#chunk-1": "old"}
    await knowledge.replace_document("a", [embedded("a", 0, "new")])
    assert await stored(knowledge) == {"a#chunk-0": "new"}
    await client.indices.refresh(index=settings.index)
    assert await stored(knowledge) == {"a#chunk-0": "new"}


@pytest.mark.parametrize("chunks", [1, 9])
@pytest.mark.parametrize("meets", ["stored_rows", "_written", "send"])
async def test_a_document_that_two_processes_replace(
    client: AsyncElasticsearch, settings: ElasticsearchSettings, knowledge: ElasticsearchKnowledge,
    monkeypatch: pytest.MonkeyPatch, meets: str, chunks: int,
) -> None:  # fmt: skip
    """Wherever another writer overtakes this one, the newer of both versions is left, whole."""
    await knowledge.replace_document("a", [embedded("a", n, "old") for n in range(5)])
    step = getattr(store, meets)
    overtaken: list[bool] = []

    async def overtake() -> None:
        other = ElasticsearchKnowledge(settings)
        await other.replace_document("a", [embedded("a", n, "theirs") for n in range(4)])
        await other.aclose()

    async def overtaking(*args: Any, **options: Any) -> Any:
        outcome = await step(*args, **options) if meets == "stored_rows" else None
        if not overtaken:
            overtaken.append(True)
            await asyncio.to_thread(asyncio.run, overtake())
        return outcome if meets == "stored_rows" else await step(*args, **options)

    monkeypatch.setattr(store, meets, overtaking)
    await knowledge.replace_document("a", [embedded("a", n, "mine") for n in range(chunks)])
    kept = ["mine"] * chunks if meets == "stored_rows" else ["theirs"] * 4
    rows = await client.search(index=settings.index, size=100)
    assert [row["_source"]["content"] for row in rows["hits"]["hits"]] == kept
    assert list((await stored(knowledge)).values()) == kept
    monkeypatch.undo()
    await knowledge.replace_document("a", [embedded("a", 0, "last")])
    assert await stored(knowledge) == {"a#chunk-0": "last"}


async def test_a_clock_that_was_ahead(
    knowledge: ElasticsearchKnowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a machine wrote tomorrow is replaced today; what it deleted is never lost in silence."""
    tomorrow = time.time_ns() + 24 * 3600 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: tomorrow)
    await knowledge.replace_document("a", [embedded("a", n, "ahead") for n in range(3)])
    await knowledge.upsert([embedded("a", 1, "ahead")])
    monkeypatch.undo()
    await knowledge.replace_document("a", [embedded("a", n, "today") for n in range(2)])
    assert list((await stored(knowledge)).values()) == ["today"] * 2
    await knowledge.delete_documents(["a"])
    with pytest.raises(BackendUnavailableError, match=r"clock"):
        await knowledge.replace_document("a", [embedded("a", 0, "again")])


@pytest.mark.parametrize("mode", SearchMode)
async def test_only_the_newest_version_is_seen(
    client: AsyncElasticsearch, settings: ElasticsearchSettings, knowledge: ElasticsearchKnowledge,
    mode: SearchMode,
) -> None:  # fmt: skip
    """Rows of an older version, as a write of another process can leave them, are no hits."""
    await knowledge.replace_document("a", [embedded("a", 0, "text new")])
    await put(client, settings.index, embedded("a", 1, "text old"), version=1, refresh=True)
    await put(client, settings.index, embedded("b", 1, "text b"), version=1, refresh=True)
    hits = (await knowledge.search(asked("text", mode=mode))).hits
    assert {hit.content for hit in hits} == {"text new", "text b"}


async def test_C67_a_write_makes_no_index(
    client: AsyncElasticsearch, settings: ElasticsearchSettings, knowledge: ElasticsearchKnowledge
) -> None:
    """An index that another process dropped is missed by a write, not made by it."""
    await knowledge.upsert([embedded("a")])
    await client.indices.delete(index=settings.index)
    for write in (
        knowledge.upsert([embedded("a")]),
        knowledge.replace_document("a", [embedded("a")]),
        knowledge.delete_documents(["a"]),
    ):
        with pytest.raises(CollectionMissingError, match=r"elasticsearch\.index.*ingest PATH"):
            await write
    assert not (await client.indices.exists(index=settings.index)).body


async def test_a_full_disk(
    client: AsyncElasticsearch, settings: ElasticsearchSettings, knowledge: ElasticsearchKnowledge
) -> None:
    """The block that a node sets when its disk is almost full is told, and searches go on."""
    await knowledge.upsert([embedded("a")])
    block = {"index.blocks.read_only_allow_delete": True}
    await client.indices.put_settings(index=settings.index, body=block)
    with pytest.raises(StorageError, match=r"elasticsearch\.index.*disk"):
        await knowledge.upsert([embedded("b")])
    assert await stored(knowledge) == {"a#chunk-0": "text"}
    await client.indices.put_settings(
        index=settings.index, body={"index.blocks.read_only_allow_delete": None}
    )
    await knowledge.upsert([embedded("b")])
    assert len(await stored(knowledge)) == 2


async def test_rows_that_the_node_refuses(
    client: AsyncElasticsearch, settings: ElasticsearchSettings, knowledge: ElasticsearchKnowledge
) -> None:
    """Each refused row is told by its key, with the node's own reason."""
    await client.indices.delete(index=settings.index)
    await client.indices.create(
        index=settings.index,
        body={
            "mappings": {
                "properties": {
                    "content": {"type": "text"},
                    "vector": {"type": "dense_vector", "dims": DIMENSION},
                    "metadata": {"properties": {"level": {"type": "integer"}}},
                }
            }
        },
    )
    chunks = [embedded(f"d{n}", level="high" if n % 2 else n) for n in range(9)]
    with pytest.raises(
        BackendFailedError, match=r"4 of 9 rows.*d1#chunk-0: .*level.*d5#chunk-0: .*and 1 more"
    ):
        await knowledge.upsert(chunks)


async def test_two_that_prepare_at_once(settings: ElasticsearchSettings) -> None:
    """Of several that make the index in one moment exactly one has made it."""
    many = [ElasticsearchKnowledge(settings) for _ in range(4)]
    made = await asyncio.gather(*(one.prepare(model=MODEL, dimension=DIMENSION) for one in many))
    assert sorted(made) == [False, False, False, True]
    for one in many:
        await one.aclose()


async def test_a_document_of_more_than_a_page(knowledge: ElasticsearchKnowledge) -> None:
    """A document of more chunks than a search returns is replaced and deleted whole."""
    many = [embedded("long", n, "x", vector=unit(1, n)) for n in range(10_050)]
    await knowledge.replace_document("long", many)
    await knowledge.upsert([embedded("other", 0, "kept")])
    await knowledge.replace_document("long", many[:2])
    assert len(await stored(knowledge)) == 3
    await knowledge.replace_document("long", many)
    await knowledge.delete_documents(["long"])
    assert await stored(knowledge) == {"other#chunk-0": "kept"}


async def test_long_values_are_told_apart(knowledge: ElasticsearchKnowledge) -> None:
    """A scope value beyond what an index keeps of a term matches itself and nothing like it."""
    long = "文" * 20_000
    await knowledge.upsert([embedded("same", team=long), embedded("longer", team=long + "x")])
    assert list(await stored(knowledge, team=long)) == ["same#chunk-0"]


async def test_numbers_keep_their_kind(knowledge: ElasticsearchKnowledge) -> None:
    """Whole numbers of any size come back as they were."""
    one = embedded("a", level=2**53 + 1, huge=2**80, small=-(2**63))
    await knowledge.upsert([one])
    (hit,) = (await knowledge.search(asked(scope=Scope({"huge": 2**80})))).hits
    assert dict(hit.metadata) == one.chunk.metadata()


@pytest.mark.parametrize("metric", ["COSINE", "L2", "IP"])
async def test_dense_search_finds_the_nearest(settings: ElasticsearchSettings, metric: str) -> None:
    """R32: of 2,000 rows the ten nearest are found, with exact scores, scoped or not."""
    random = np.random.default_rng(3)
    vectors = random.standard_normal((2_000, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    knowledge = ElasticsearchKnowledge(evolve(settings, metric=metric))
    await knowledge.prepare(model="m", dimension=64)
    await knowledge.upsert(
        [
            EmbeddedChunk(
                Chunk("d", n, f"t{n}", 0, 2, "d.md", "-", scope={"half": n % 2}), vectors[n]
            )
            for n in range(2_000)
        ]
    )
    share: list[float] = []
    for query in vectors[:20]:
        cosines = vectors @ query
        for scope, allowed in ((Scope(), range(2_000)), (Scope({"half": 1}), range(1, 2_000, 2))):
            best = sorted(allowed, key=lambda n: -cosines[n])[:10]
            request = KnowledgeSearchRequest("", query, 10, SearchMode.DENSE, scope)
            hits = (await knowledge.search(request)).hits
            found = [int(str(hit.id).rpartition("-")[2]) for hit in hits]
            share.append(len({*best} & {*found}) / 10)
            for hit, number in zip(hits, found, strict=True):
                cosine = float(cosines[number])
                expected: Any = 2 - 2 * cosine if metric == "L2" else cosine
                assert hit.score.value == pytest.approx(expected, abs=1e-5)
    assert np.mean(share) > 0.97
    await knowledge.aclose()
