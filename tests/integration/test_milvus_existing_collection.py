"""A collection that others made is used as it stands (R31)."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evidence_lookup.adapters import known_layout
from evidence_lookup.adapters.milvus import MilvusKnowledge, MilvusSettings
from evidence_lookup.adapters.milvus import embedded as embedded_database
from evidence_lookup.adapters.milvus.driver import pymilvus
from evidence_lookup.domain.errors import (
    CollectionMissingError,
    DimensionMismatchError,
    SchemaMismatchError,
)
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.score import ScoreSemantics
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest

_SDK = pymilvus()
_NAMES = {"id": "id", "content": "content", "vector": "vector", "metadata": "metadata"}
_OTHER = {"id": "pk", "content": "body", "vector": "emb", "metadata": "meta"}
_ROWS: list[tuple[str, list[float], dict[str, Any]]] = [
    ("near", [1.0, 0.0, 0.0], {"docId": "a", "chunkIndex": "3", "tenant": "acme", "n": 3}),
    ("half", [0.6, 0.8, 0.0], {"doc_id": "b", "chunk_index": 0.0, "tenant": "acme", "n": 3.0}),
    ("other", [1.0, 0.0, 0.0], {"tenant": "other", "n": "3"}),
    ("bare", [-1.0, 0.0, 0.0], {}),
]


@pytest.fixture
def path(tmp_path: Path) -> Any:
    """An embedded database, open for the whole test."""
    file = tmp_path / "existing.db"
    embedded_database.acquire(file)
    yield file
    embedded_database.release(file)


async def make(
    path: Path,
    *,
    metric: str = "COSINE",
    names: dict[str, str] = _NAMES,
    id_type: Any = _SDK.DataType.VARCHAR,
    skip: str = "",
    change: Callable[[Any], None] = lambda schema: None,
) -> None:
    """A collection as a host's own code would make it, with four rows."""
    client: Any = _SDK.AsyncMilvusClient(str(path), dedicated=True)
    schema = client.create_schema(auto_id=False)
    schema.add_field(names["id"], id_type, is_primary=True, max_length=64)
    schema.add_field(names["vector"], _SDK.DataType.FLOAT_VECTOR, dim=3)
    if skip != "content":
        schema.add_field(names["content"], _SDK.DataType.VARCHAR, max_length=100)
    if skip != "metadata":
        schema.add_field(names["metadata"], _SDK.DataType.JSON)
    change(schema)
    index = client.prepare_index_params()
    index.add_index(names["vector"], index_type="FLAT", metric_type=metric)
    await client.create_collection("theirs", schema=schema, index_params=index, timeout=20)
    if not skip:
        rows = [
            {
                names["id"]: text if id_type is _SDK.DataType.VARCHAR else number,
                names["content"]: text,
                names["vector"]: vector,
                names["metadata"]: metadata,
            }
            for number, (text, vector, metadata) in enumerate(_ROWS)
        ]
        await client.upsert("theirs", rows, timeout=20)
    await client.close()


def settings(path: Path, names: dict[str, str] = _NAMES) -> MilvusSettings:
    """Settings for the collection under *names*."""
    return MilvusSettings(
        str(path),
        collection="theirs",
        id_field=names["id"],
        content_field=names["content"],
        vector_field=names["vector"],
        metadata_field=names["metadata"],
    )


def request(mode: SearchMode = SearchMode.DENSE, **scope: Any) -> KnowledgeSearchRequest:
    """A search for the first row's vector."""
    vector = np.array([1, 0, 0], dtype=np.float32)
    return KnowledgeSearchRequest("near", vector, 10, mode, Scope(scope))


@pytest.mark.parametrize("names", [_NAMES, _OTHER], ids=["usual", "other"])
@pytest.mark.parametrize(
    "id_type", [_SDK.DataType.VARCHAR, _SDK.DataType.INT64], ids=["text", "int"]
)
@pytest.mark.parametrize(
    ("metric", "semantics", "scores"),
    [
        ("COSINE", ScoreSemantics.COSINE, [1.0, 1.0, 0.6, -1.0]),
        ("IP", ScoreSemantics.INNER_PRODUCT, [1.0, 1.0, 0.6, -1.0]),
        ("L2", ScoreSemantics.L2_SQUARED, [0.0, 0.0, 0.8, 4.0]),
    ],
)
async def test_R31_metrics_names_and_keys(
    path: Path,
    metric: str,
    semantics: ScoreSemantics,
    scores: list[float],
    names: dict[str, str],
    id_type: Any,
) -> None:
    """C13, C15: each metric keeps its own semantics and direction, under any names and keys."""
    await make(path, metric=metric, names=names, id_type=id_type)
    knowledge = MilvusKnowledge(settings(path, names))
    capabilities = await knowledge.probe()
    assert (capabilities.dimension, capabilities.semantics) == (3, semantics)
    assert capabilities.embedder is None
    hits = (await knowledge.search(request())).hits
    assert [hit.content for hit in hits] == ["near", "other", "half", "bare"]
    assert [hit.score.value for hit in hits] == pytest.approx(scores, abs=1e-5)
    assert {hit.score.semantics for hit in hits} == {semantics}
    assert [hit.score.similarity for hit in hits] == pytest.approx([1, 1, 0.6, 0], abs=1e-5)
    assert hits[0].id == ("near" if id_type is _SDK.DataType.VARCHAR else "0")
    scoped = await knowledge.search(request(tenant="acme"))
    assert [hit.content for hit in scoped.hits] == ["near", "half"]
    await knowledge.aclose()


async def test_C48_no_keyword_field(path: Path) -> None:
    """Without a sparse field every mode runs as dense, and says so."""
    await make(path)
    knowledge = MilvusKnowledge(settings(path))
    assert (await knowledge.probe()).modes == {SearchMode.DENSE}
    for mode in (SearchMode.KEYWORD, SearchMode.HYBRID):
        response = await knowledge.search(request(mode, tenant="acme"))
        assert response.mode is SearchMode.DENSE
        assert response.degraded == (f"{mode}_unavailable",)
        assert [hit.content for hit in response.hits] == ["near", "half"]
    await knowledge.aclose()


async def test_a_stored_float_is_no_whole_number(path: Path) -> None:
    """JSON says that 3 equals 3.0; a scope tells them apart, and both from "3"."""
    await make(path)
    knowledge = MilvusKnowledge(settings(path))
    assert [hit.content for hit in (await knowledge.search(request(n=3))).hits] == ["near"]
    assert [hit.content for hit in (await knowledge.search(request(n="3"))).hits] == ["other"]
    await knowledge.aclose()


@pytest.mark.parametrize(
    ("names", "skip", "message"),
    [
        ({**_NAMES, "content": "text"}, "", r"no field 'text' \(milvus.content-field\).*content, "),
        ({**_NAMES, "vector": "dense"}, "", r"no field 'dense' \(milvus.vector-field\).*vector"),
        (_NAMES, "metadata", r"no field 'metadata' \(milvus.metadata-field\)"),
        (
            {**_NAMES, "metadata": "content"},
            "",
            r"milvus.metadata-field\) of the type VARCHAR.*JSON",
        ),
        ({**_NAMES, "vector": "content"}, "", r"milvus.vector-field\).*VARCHAR.*FLOAT_VECTOR"),
        ({**_NAMES, "id": "content"}, "", r"milvus.id-field\).*not its primary key"),
    ],
)
async def test_R31_a_mismatch_names_both_sides(
    path: Path, names: dict[str, str], skip: str, message: str
) -> None:
    """A missing or wrong field is named with its setting, beside what is there."""
    await make(path, skip=skip)
    knowledge = MilvusKnowledge(settings(path, names))
    for call in (knowledge.probe(), knowledge.search(request())):
        with pytest.raises(SchemaMismatchError, match=message):
            await call
    await knowledge.aclose()


async def test_C42_dimension_of_an_existing_collection(path: Path) -> None:
    """Preparing for another dimension names both numbers; the same one is taken."""
    await make(path)
    knowledge = MilvusKnowledge(settings(path))
    with pytest.raises(DimensionMismatchError, match=r"3 dimensions.*'m' makes 4"):
        await knowledge.prepare(model="m", dimension=4)
    await knowledge.prepare(model="m", dimension=3)
    await knowledge.aclose()


async def test_R31_a_collection_that_is_exchanged(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores mean what they mean in the collection that has the name at the time of a search."""
    # Seen within seconds, here at once.
    monkeypatch.setattr(known_layout, "_SECONDS_IF_ALONE", 0)
    knowledge = MilvusKnowledge(settings(path))
    for metric, semantics in (
        ("COSINE", ScoreSemantics.COSINE), ("L2", ScoreSemantics.L2_SQUARED),
    ):  # fmt: skip
        client: Any = _SDK.AsyncMilvusClient(str(path), dedicated=True)
        await client.drop_collection("theirs", timeout=20)
        await client.close()
        await make(path, metric=metric)
        hits = (await knowledge.search(request(tenant="acme"))).hits
        assert {hit.score.semantics for hit in hits} == {semantics}
        assert [hit.content for hit in hits] == ["near", "half"]
    await knowledge.aclose()


async def test_C67_no_such_collection(path: Path) -> None:
    """A collection that is not there is named with its setting, and found once it is made."""
    knowledge = MilvusKnowledge(settings(path))
    with pytest.raises(CollectionMissingError, match=r"'theirs' \(milvus.collection\)"):
        await knowledge.search(request())
    await make(path)
    assert len((await asyncio.wait_for(knowledge.search(request()), 20)).hits) == 4
    await knowledge.aclose()
