"""Every row of the table of VectorStore classes, proven on the class itself.

Classes whose package is not installed here are skipped; `pip install langchain-chroma
langchain-qdrant` runs them all.
"""

import uuid
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.milvus import MilvusSettings
from evidence_lookup.adapters.milvus import embedded as embedded_database
from evidence_lookup.adapters.milvus.driver import pymilvus
from evidence_lookup.adapters.vector_store import VectorStoreKnowledge, VectorStoreSettings
from evidence_lookup.domain.errors import (
    CollectionMissingError,
    DimensionMismatchError,
    SchemaMismatchError,
    ScopeError,
)
from evidence_lookup.domain.filters import HintFilter, Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.identity import identify
from evidence_lookup.domain.score import ScoreSemantics
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest
from evidence_lookup.testing.injections import STORED, generated, values

_QUOTED = "o\"r' \\ 中🙂"
_ROWS: dict[str, tuple[list[float], dict[str, Any]]] = {
    "same": ([1, 0, 0], {"tenant": "acme", "plan": "1", "category": "ops", "chunk_index": 0}),
    "near": ([0.8, 0.6, 0], {"tenant": "acme", "plan": "2", "category": "food", "chunk_index": 1}),
    "side": ([0, 1, 0], {"tenant": _QUOTED, "plan": "1", "category": "ops", "chunk_index": 2}),
    "back": ([-1, 0, 0], {"tenant": "other", "plan": "1", "category": "ops", "chunk_index": 3}),
}
_COSINES = [1.0, 0.8, 0.0, -1.0]
_RELEVANCES = [1.0, 0.8, 0.0, 0.0]


class GivenVectors(Embeddings):
    """The vector of each document by its text; no query comes here but those of the classes."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """As above; for what a class embeds to learn the dimension, some vector."""
        return [_ROWS.get(text, _ROWS["same"])[0] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Never a lookup's."""
        assert text != "the query"
        return self.embed_documents([text])[0]


def documents() -> list[Document]:
    """The rows; the ids are UUIDs, which every class takes."""
    return [
        Document(page_content=text, id=key(text), metadata={"doc_id": text, **metadata})
        for text, (_, metadata) in _ROWS.items()
    ]


def key(text: str) -> str:
    """The id of a row."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, text))


Make = Callable[[Path, str], Any]


def in_memory(_: Path, metric: str) -> Any:
    """LangChain's own."""
    store = InMemoryVectorStore(GivenVectors())
    store.add_documents(documents())
    return store


def chroma(_: Path, metric: str) -> Any:
    """Chroma in the process."""
    module: Any = pytest.importorskip(
        "langchain_chroma", reason="langchain-chroma is not installed"
    )
    store = module.Chroma(
        collection_name=f"c{uuid.uuid4().hex}",
        embedding_function=GivenVectors(),
        collection_configuration={"hnsw": {"space": metric}} if metric else None,
    )
    store.add_documents(documents())
    return store


def qdrant(_: Path, metric: str) -> Any:
    """Qdrant in the process."""
    module: Any = pytest.importorskip(
        "langchain_qdrant", reason="langchain-qdrant is not installed"
    )
    client: Any = import_module("qdrant_client").QdrantClient(":memory:")
    models: Any = import_module("qdrant_client.models")
    distance = models.Distance(metric)
    client.create_collection("c", vectors_config=models.VectorParams(size=3, distance=distance))
    store = module.QdrantVectorStore(client, "c", GivenVectors(), distance=distance)
    store.add_documents(documents())
    return store


def milvus(path: Path, metric: str, layout: str = "fields") -> Any:
    """A collection as LangChain lays it out: metadata in fields, in dynamic ones, or in JSON."""
    sdk = pymilvus()
    client: Any = sdk.MilvusClient(str(path), dedicated=True)
    schema = client.create_schema(auto_id=False, enable_dynamic_field=layout == "dynamic")
    schema.add_field("pk", sdk.DataType.VARCHAR, is_primary=True, max_length=64)
    schema.add_field("vector", sdk.DataType.FLOAT_VECTOR, dim=3)
    schema.add_field("text", sdk.DataType.VARCHAR, max_length=100)
    if layout == "json":
        schema.add_field("meta", sdk.DataType.JSON)
    if layout == "fields":
        for name in ("doc_id", "tenant", "plan", "category"):
            schema.add_field(name, sdk.DataType.VARCHAR, max_length=100)
        schema.add_field("chunk_index", sdk.DataType.INT64)
    indexes = client.prepare_index_params()
    indexes.add_index("vector", index_type="FLAT", metric_type=metric)
    client.create_collection("theirs", schema=schema, index_params=indexes, timeout=20)
    rows: list[dict[str, Any]] = []
    for one in documents():
        row: dict[str, Any] = {
            "pk": one.id,
            "vector": _ROWS[one.page_content][0],
            "text": one.page_content,
        }
        rows.append({**row, "meta": one.metadata} if layout == "json" else {**row, **one.metadata})
    client.upsert("theirs", rows, timeout=20)
    client.close()
    return milvus_store(path, layout)


def milvus_store(path: Path, layout: str = "fields", *, attached: bool = False, **more: Any) -> Any:
    """A host's own store on that collection."""
    own = import_module("langchain_milvus").Milvus
    release = tuple(map(int, version("langchain-milvus").split(".")[:2]))
    # Releases before 0.4 do not open a collection with a pymilvus from 2.6.10 on.
    if attached or release < (0, 4):
        own = import_module("evidence_lookup.adapters.vector_store.milvus_stores").AttachedMilvus
        more = {"search_params": {}, **more}
    store = own(
        GivenVectors(),
        collection_name="theirs",
        connection_args={"uri": str(path), "dedicated": True},
        consistency_level="Strong",
        primary_field="pk",
        enable_dynamic_field=layout == "dynamic",
        metadata_field="meta" if layout == "json" else None,
        **more,
    )
    if not store.fields:
        names = {"fields": [*documents()[0].metadata], "json": ["meta"], "dynamic": []}
        store.fields = ["pk", "text", "vector", *names[layout]]
    return store


_CLASSES: list[tuple[Make, str, ScoreSemantics, list[float]]] = [
    (in_memory, "", ScoreSemantics.COSINE, _COSINES),
    (milvus, "COSINE", ScoreSemantics.COSINE, _COSINES),
    (milvus, "IP", ScoreSemantics.INNER_PRODUCT, _COSINES),
    (milvus, "L2", ScoreSemantics.RELEVANCE, _RELEVANCES),
    (chroma, "", ScoreSemantics.RELEVANCE, _RELEVANCES),
    (chroma, "l2", ScoreSemantics.RELEVANCE, _RELEVANCES),
    (chroma, "cosine", ScoreSemantics.COSINE, _COSINES),
    (chroma, "ip", ScoreSemantics.INNER_PRODUCT, _COSINES),
    (qdrant, "Cosine", ScoreSemantics.COSINE, _COSINES),
    (qdrant, "Dot", ScoreSemantics.INNER_PRODUCT, _COSINES),
    (qdrant, "Euclid", ScoreSemantics.RELEVANCE, _RELEVANCES),
]
_IDS = [f"{make.__name__}-{metric or 'default'}" for make, metric, *_ in _CLASSES]
_ONE_OF_EACH = [
    pytest.param(make, metric, id=make.__name__)
    for make, metric in ((in_memory, ""), (milvus, "IP"), (chroma, "cosine"), (qdrant, "Cosine"))
]


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """An embedded database, open for the whole test."""
    file = tmp_path / "theirs.db"
    embedded_database.acquire(file)
    yield file
    embedded_database.release(file)


def over(store: Any) -> VectorStoreKnowledge:
    """The path over a host's own store, by the table alone."""
    embedder = MemoryEmbedder(dimension=3)
    return VectorStoreKnowledge(
        VectorStoreSettings(), milvus=MilvusSettings(), embedder=embedder, store=store
    )


def request(
    hint: str | None = None, mode: SearchMode = SearchMode.DENSE, **scope: Any
) -> KnowledgeSearchRequest:
    """A search for the first row's vector."""
    vector = np.array([1, 0, 0], dtype=np.float32)
    hint_filter = HintFilter(hint) if hint else None
    return KnowledgeSearchRequest("the query", vector, 10, mode, Scope(scope), hint_filter)


async def found(knowledge: VectorStoreKnowledge, one: KnowledgeSearchRequest) -> list[str]:
    """The texts that are found."""
    return [hit.content for hit in (await knowledge.search(one)).hits]


@pytest.mark.parametrize(("make", "metric", "semantics", "numbers"), _CLASSES, ids=_IDS)
async def test_R33_the_score_of_each_class(
    path: Path, make: Make, metric: str, semantics: ScoreSemantics, numbers: list[float]
) -> None:
    """C13, C14: known directions get their true similarities, best first, with what they mean."""
    knowledge = over(make(path, metric))
    assert (await knowledge.probe()).semantics is semantics
    hits = (await knowledge.search(request())).hits
    expected = zip(numbers, map(key, _ROWS), strict=True)
    assert [hit.id for hit in hits] == [
        one for _, one in sorted(expected, key=lambda item: (-item[0], item[1]))
    ]
    assert [hit.score.value for hit in hits] == pytest.approx(numbers, abs=1e-5)
    assert {hit.score.semantics for hit in hits} == {semantics}
    await knowledge.aclose()


@pytest.mark.parametrize(("make", "metric"), _ONE_OF_EACH)
async def test_R01_R02_identity_on_each_class(path: Path, make: Make, metric: str) -> None:
    """Ids, documents and chunks come back as they were written."""
    knowledge = over(make(path, metric))
    hits = (await knowledge.search(request())).hits
    assert [hit.id for hit in hits] == [key(text) for text in _ROWS]
    keys = [
        identify(hit.metadata, hit_id=hit.id, original_rank=n).evidence_key
        for n, hit in enumerate(hits, start=1)
    ]
    assert keys == [f"{text}#chunk-{n}" for n, text in enumerate(_ROWS)]
    await knowledge.aclose()


@pytest.mark.parametrize(("make", "metric"), _ONE_OF_EACH)
async def test_C35_filters_on_each_class(path: Path, make: Make, metric: str) -> None:
    """C32, C33: values, lists and several names narrow the search, in every mode."""
    knowledge = over(make(path, metric))
    for mode in SearchMode:
        assert await found(knowledge, request(mode=mode, tenant="acme")) == ["same", "near"]
    assert await found(knowledge, request(tenant=_QUOTED)) == ["side"]
    assert await found(knowledge, request(tenant=("other", _QUOTED))) == ["side", "back"]
    assert await found(knowledge, request(tenant=("acme",), plan="2")) == ["near"]
    assert await found(knowledge, request("food", tenant="acme")) == ["near"]
    assert await found(knowledge, request("ops")) == ["same", "side", "back"]
    assert await found(knowledge, request("nothing")) == []
    assert await found(knowledge, request(chunk_index=2)) == ["side"]
    assert len(await found(knowledge, evolve(request(plan="1"), top_k=2))) == 2
    await knowledge.aclose()


@pytest.mark.parametrize(("make", "metric"), _ONE_OF_EACH)
async def test_C28_no_value_widens_on_each_class(path: Path, make: Make, metric: str) -> None:
    """None of 200 expression fragments finds a document that does not hold that very value."""
    knowledge = over(make(path, metric))
    for value in generated(values, 200):
        if value == STORED:
            continue
        for one in (request(tenant=value), request(tenant=(value, value + "x")), request(value)):
            assert await found(knowledge, one) == [], value
    await knowledge.aclose()


@pytest.mark.parametrize("layout", ["fields", "dynamic", "json"])
async def test_C41_each_layout_of_milvus(path: Path, layout: str) -> None:
    """Wherever LangChain keeps metadata in Milvus, filters find them there."""
    knowledge = over(milvus(path, "COSINE", layout))
    assert await found(knowledge, request()) == list(_ROWS)
    assert await found(knowledge, request(tenant="acme")) == ["same", "near"]
    assert await found(knowledge, request("food", tenant=("acme", "x"))) == ["near"]
    assert await found(knowledge, request(tenant=_QUOTED)) == ["side"]
    if layout == "fields":
        with pytest.raises(ScopeError, match=r"no field 'team'.*tenant"):
            await found(knowledge, request(team="x"))
    else:
        assert await found(knowledge, request(team="x")) == []
    await knowledge.aclose()


async def test_C67_a_missing_collection_of_milvus(path: Path) -> None:
    """What LangChain takes for an empty collection is an error, at first and later on."""
    knowledge = over(milvus_store(path))
    for call in (knowledge.search(request()), knowledge.probe()):
        with pytest.raises(CollectionMissingError, match="'theirs'"):
            await call
    store = milvus(path, "COSINE")
    assert len(await found(knowledge, request())) == 4
    store.client.drop_collection("theirs")
    with pytest.raises(CollectionMissingError, match="theirs"):
        await knowledge.search(request())
    await knowledge.aclose()


async def test_a_milvus_store_of_words_is_refused(path: Path) -> None:
    """A store over an index that is none of vectors' is refused with its metric."""
    milvus(path, "COSINE")
    store = milvus_store(path, attached=True, vector_field="text")
    with pytest.raises(SchemaMismatchError, match=r"'theirs'.*metric none.*COSINE, IP, L2"):
        await over(store).search(request())


@pytest.mark.parametrize(("make", "metric"), _ONE_OF_EACH)
async def test_C42_another_dimension_on_each_class(path: Path, make: Make, metric: str) -> None:
    """A store that was filled by another model is refused with both dimensions."""
    store = make(path, metric)
    knowledge = VectorStoreKnowledge(
        VectorStoreSettings(),
        milvus=MilvusSettings(),
        embedder=MemoryEmbedder(dimension=4),
        store=store,
    )
    vector = np.array([1, 0, 0, 0], dtype=np.float32)
    for call in (knowledge.probe(), knowledge.search(evolve(request(), vector=vector))):
        with pytest.raises(DimensionMismatchError, match=type(store).__name__) as caught:
            await call
        assert (caught.value.expected, caught.value.actual) == (3, 4)
    await knowledge.aclose()
