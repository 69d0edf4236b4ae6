"""An index that others made is used as it stands (R31)."""

from collections.abc import AsyncIterator, Iterable
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from attrs import evolve
from elasticsearch import AsyncElasticsearch
from tests.servers import Server

from evidence_lookup.adapters import known_layout
from evidence_lookup.adapters.elasticsearch import ElasticsearchKnowledge, ElasticsearchSettings
from evidence_lookup.domain.errors import (
    DimensionMismatchError,
    EmbedderMismatchError,
    InvalidChunkError,
    SchemaMismatchError,
    ScopeError,
)
from evidence_lookup.domain.filters import HintFilter, Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.score import ScoreSemantics
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest
from evidence_lookup.ports.knowledge_store import EmbeddedChunk
from evidence_lookup.testing.knowledge_samples import embedded

_ROWS: list[tuple[str, list[float], dict[str, Any]]] = [
    ("near 豆腐", [1.0, 0.0, 0.0], {"docId": "a", "chunkIndex": "3", "tenant": "acme", "n": 3}),
    ("half", [0.6, 0.8, 0.0], {"doc_id": "b", "chunk_index": 0, "tenant": "acme", "n": 3}),
    ("other", [1.0, 0.0, 0.0], {"tenant": "other", "n": "3"}),
    ("bare", [-1.0, 0.0, 0.0], {"tenant": "ACME", "n": 4}),
]
_HNSW = {"index": True, "similarity": "cosine", "index_options": {"type": "hnsw"}}
_WORD = {"type": "keyword"}
_TEXT = {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}


class Index:
    """An index as a host's own code would make it."""

    def __init__(self, client: AsyncElasticsearch, url: str) -> None:
        self.client, self.url, self.name = client, url, f"theirs-{uuid4().hex}"

    async def make(
        self, *, vector: dict[str, Any] | None = None, metadata: dict[str, Any] | None = None,
        names: tuple[str, str, str] = ("content", "vector", "metadata"), rows: bool = True,
        content: dict[str, Any] | None = None, settings: dict[str, Any] | None = None, **root: Any,
    ) -> None:  # fmt: skip
        """Make it, with four rows."""
        content_name, vector_name, metadata_name = names
        fields: dict[str, Any] = {
            content_name: content or {"type": "text"},
            vector_name: {
                "type": "dense_vector",
                "dims": 3,
                **(_HNSW if vector is None else vector),
            },
            metadata_name: metadata or {"properties": {"tenant": _WORD, "n": {"type": "long"}}},
        }  # fmt: skip
        await self.client.indices.create(
            index=self.name,
            body={"settings": settings or {}, "mappings": {"properties": fields, **root}},
        )
        if rows:
            await self.put(
                {content_name: text, vector_name: one, metadata_name: values}
                for text, one, values in _ROWS
            )

    async def put(self, rows: Iterable[dict[str, Any]]) -> None:
        """Write *rows* with the ids r0, r1 and so on."""
        operations: list[dict[str, Any]] = []
        for number, row in enumerate(rows):
            operations += [{"index": {"_id": f"r{number}"}}, row]
        answer = await self.client.bulk(index=self.name, operations=operations, refresh=True)
        assert not answer.body["errors"], answer.body

    def opened(self, **settings: Any) -> ElasticsearchKnowledge:
        """The adapter on it."""
        settings = {"index": self.name, "timeout_seconds": 60, **settings}
        return ElasticsearchKnowledge(ElasticsearchSettings(self.url, **settings))


@pytest.fixture
async def index(elasticsearch_server: Server) -> AsyncIterator[Index]:
    """An index that is made by the test, and dropped after it."""
    async with AsyncElasticsearch(elasticsearch_server.url, request_timeout=60) as client:
        made = Index(client, elasticsearch_server.url)
        yield made
        await client.indices.delete(index=made.name, ignore_unavailable=True)


def request(
    mode: SearchMode = SearchMode.DENSE, query: str = "near", top_k: int = 10, **scope: Any
) -> KnowledgeSearchRequest:
    """A search for the first row."""
    vector = np.array([1, 0, 0], dtype=np.float32)
    return KnowledgeSearchRequest(query, vector, top_k, mode, Scope(scope))


async def found(knowledge: ElasticsearchKnowledge, asked: KnowledgeSearchRequest) -> list[str]:
    """The contents that a search gives, in order."""
    return [hit.content for hit in (await knowledge.search(asked)).hits]


@pytest.mark.parametrize(
    "names",
    [("content", "vector", "metadata"), ("text", "emb", "meta-data")],
    ids=["usual", "other"],
)
@pytest.mark.parametrize(
    ("similarity", "semantics", "scores"),
    [
        ("cosine", ScoreSemantics.COSINE, [1.0, 1.0, 0.6, -1.0]),
        ("dot_product", ScoreSemantics.INNER_PRODUCT, [1.0, 1.0, 0.6, -1.0]),
        ("max_inner_product", ScoreSemantics.INNER_PRODUCT, [1.0, 1.0, 0.6, -1.0]),
        ("l2_norm", ScoreSemantics.L2_SQUARED, [0.0, 0.0, 0.8, 4.0]),
    ],
)
async def test_R31_similarities_and_names(
    index: Index, similarity: str, semantics: ScoreSemantics, scores: list[float], names: Any
) -> None:
    """C13, C15: each similarity keeps its own semantics and direction, under any names."""
    await index.make(vector={**_HNSW, "similarity": similarity}, names=names)
    knowledge = index.opened(content_field=names[0], vector_field=names[1], metadata_field=names[2])
    capabilities = await knowledge.probe()
    assert (capabilities.dimension, capabilities.semantics) == (3, semantics)
    assert (capabilities.embedder, capabilities.modes) == (None, frozenset(SearchMode))
    hits = (await knowledge.search(request())).hits
    assert [hit.id for hit in hits] == ["r0", "r2", "r1", "r3"]
    assert [hit.score.value for hit in hits] == pytest.approx(scores, abs=1e-5)
    assert {hit.score.semantics for hit in hits} == {semantics}
    assert [hit.score.similarity for hit in hits] == pytest.approx([1, 1, 0.6, 0], abs=1e-5)
    assert [dict(hit.metadata) for hit in hits] == [_ROWS[n][2] for n in (0, 2, 1, 3)]
    assert await found(knowledge, request(tenant="acme")) == ["near 豆腐", "half"]
    (word,) = (await knowledge.search(request(SearchMode.KEYWORD, "half"))).hits
    assert word.similarity_score is not None
    assert word.similarity_score.value == pytest.approx(scores[2], abs=1e-5)
    await knowledge.aclose()


@pytest.mark.parametrize("kind", ["int8_hnsw", "int4_hnsw", "bbq_hnsw", "flat", "int8_flat"])
async def test_R32_scores_are_exact(index: Index, kind: str) -> None:
    """C14: similarities are those of the vectors, also where the index keeps them less exactly."""
    random = np.random.default_rng(5)
    vectors = random.standard_normal((60, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    await index.make(vector={**_HNSW, "dims": 64, "index_options": {"type": kind}}, rows=False)
    operations: list[dict[str, Any]] = []
    for number, vector in enumerate(vectors):
        operations += [{"index": {"_id": str(number)}}, {"vector": vector.tolist()}]
    await index.client.bulk(index=index.name, operations=operations, refresh=True)
    knowledge = index.opened()
    answer = await knowledge.search(KnowledgeSearchRequest("", vectors[0], 5))
    for hit in answer.hits:
        exact = float(vectors[0] @ vectors[int(hit.id or "")])
        assert hit.score.value == pytest.approx(exact, abs=1e-5)
    assert answer.hits[0].id == "0"
    await knowledge.aclose()


@pytest.mark.parametrize(
    "metadata",
    [
        {"properties": {"tenant": _WORD, "n": {"type": "long"}}},
        {"properties": {"tenant": _TEXT, "n": _TEXT}},
        {"properties": {"tenant": _WORD, "n": {"type": "double"}}},
        {"type": "flattened"},
        {"dynamic": True, "properties": {}},
    ],
    ids=["exact", "text", "double", "flattened", "learnt"],
)
async def test_R31_metadata_of_any_type(index: Index, metadata: dict[str, Any]) -> None:
    """A filter works with the mapping that is there, and minds case and type all the same."""
    await index.make(metadata=metadata)
    knowledge = index.opened()
    for mode in (SearchMode.DENSE, SearchMode.HYBRID):
        assert await found(knowledge, request(mode, tenant="acme")) == ["near 豆腐", "half"]
        assert await found(knowledge, request(mode, tenant=("acme", "other"), n="3")) == ["other"]
        assert await found(knowledge, request(mode, n=3)) == ["near 豆腐", "half"]
        assert await found(knowledge, request(mode, tenant="none")) == []
    for value in ('x" or true', "acme*", "*", "acme OR other", '{"match_all":{}}'):
        assert await found(knowledge, request(tenant=value)) == []
    await knowledge.aclose()


async def test_filters_do_not_eat_into_top_k(index: Index) -> None:
    """Rows that only the second look takes away leave no gap, however many stand before."""
    await index.make(metadata={"type": "flattened"}, rows=False)
    operations: list[dict[str, Any]] = []
    for number in range(200):
        vector, plan = ([1, 0, 0], "1") if number < 190 else ([0.5, 0.5, 0], 1)
        row = {"content": "word", "vector": vector, "metadata": {"plan": plan}}
        operations += [{"index": {"_id": f"{number:03}"}}, row]
    await index.client.bulk(index=index.name, operations=operations, refresh=True)
    knowledge = index.opened()
    for mode in SearchMode:
        hits = (await knowledge.search(request(mode, "word", top_k=5, plan=1))).hits
        assert [hit.id for hit in hits] == [f"{n:03}" for n in range(190, 195)]
    await knowledge.aclose()


async def test_equal_scores_are_ordered_by_id(index: Index) -> None:
    """Also where the server cannot sort by id, in every mode, and where top_k cuts through."""
    await index.make(rows=False)
    operations: list[dict[str, Any]] = []
    for number in reversed(range(60)):
        operations += [{"index": {"_id": f"{number:02}"}},
                       {"content": "word", "vector": [1, 0, 0], "metadata": {}}]  # fmt: skip
    await index.client.bulk(index=index.name, operations=operations, refresh=True)
    knowledge = index.opened()
    for mode in SearchMode:
        hits = (await knowledge.search(request(mode, "word", top_k=7))).hits
        assert [hit.id for hit in hits] == [f"{n:02}" for n in range(7)]
    await knowledge.aclose()


async def test_R26_a_scope_that_cannot_be_filtered(index: Index) -> None:
    """A search in a scope that the mapping cannot answer is refused, never run without it."""
    await index.make(metadata={"properties": {"tenant": {"type": "text"}}, "dynamic": False})
    knowledge = index.opened()
    scopes: list[dict[str, Any]] = [{"tenant": "acme"}, {"n": 3}]
    for scope in scopes:
        with pytest.raises(SchemaMismatchError, match=rf"metadata\.{next(iter(scope))}.*keyword"):
            await knowledge.search(request(**scope))
    hinted = KnowledgeSearchRequest("x", request().vector, 3, hint_filter=HintFilter("ops"))
    with pytest.raises(SchemaMismatchError, match=r"metadata\.category"):
        await knowledge.search(hinted)
    assert len(await found(knowledge, request())) == 4
    await knowledge.aclose()


_CASELESS = {"analysis": {"normalizer": {"low": {"type": "custom", "filter": ["lowercase"]}}}}


async def test_R26_a_hint_is_judged_by_its_very_category(index: Index) -> None:
    """A field that folds letter case lets no other category through, nor does it eat into top_k."""
    kept = {"type": "keyword", "normalizer": "low"}
    metadata = {"properties": {"category": kept}}
    rows = [("ops" if n < 9 else "OPS", [1, 0, 0]) for n in range(12)]
    await index.make(metadata=metadata, rows=False, settings=_CASELESS)
    await index.put(
        {"content": "word", "vector": one, "metadata": {"category": name}} for name, one in rows
    )
    knowledge = index.opened()
    for mode in SearchMode:
        hinted = evolve(request(mode, "word", top_k=3), hint_filter=HintFilter("OPS"))
        hits = (await knowledge.search(hinted)).hits
        assert [hit.metadata["category"] for hit in hits] == ["OPS"] * 3
    await knowledge.aclose()


@pytest.mark.parametrize("kind", ["long", "double", "keyword"])
async def test_R26_whole_numbers_of_64_bits(index: Index, kind: str) -> None:
    """Numbers up to 64 bits are found; a longer one, or one that merely rounds alike, is not."""
    await index.make(metadata={"properties": {"n": {"type": kind}}}, rows=False)
    numbers = [1234567890123456789, 1234567890123456788, 2**63 - 1, -(2**63)]
    await index.put({"content": str(n), "vector": [1, 0, 0], "metadata": {"n": n}} for n in numbers)
    knowledge = index.opened()
    for n in numbers:
        assert await found(knowledge, request(n=n)) == [str(n)]
    assert await found(knowledge, request(n=2**63)) == []
    await knowledge.aclose()


@pytest.mark.parametrize("kind", ["text", "keyword", "flattened"])
async def test_R26_a_value_beyond_ignore_above(index: Index, kind: str) -> None:
    """A value that the index does not keep whole is refused; the longest that it keeps is found."""
    short: dict[str, Any] = {"type": "keyword", "ignore_above": 300}
    mappings: dict[str, dict[str, Any]] = {
        "text": {"properties": {"tenant": {"type": "text", "fields": {"tiny": {**short,
                 "ignore_above": 3}, "raw": short}}}},
        "keyword": {"properties": {"tenant": short, "category": short}},
        "flattened": {"type": "flattened", "ignore_above": 300},
    }  # fmt: skip
    await index.make(metadata=mappings[kind], rows=False)
    values = ["🙂" * 150, "🙂" * 151]
    await index.put(
        {"content": str(len(one)), "vector": [1, 0, 0], "metadata": {"tenant": one}}
        for one in values
    )
    knowledge = index.opened()
    assert await found(knowledge, request(tenant=values[0])) == ["150"]
    for scope in (values[1], ("acme", values[1])):
        with pytest.raises(ScopeError, match=r"'tenant' has 302 characters.*keeps 300 of.*ignore"):
            await knowledge.search(request(tenant=scope))
    if kind != "text":
        with pytest.raises(ScopeError, match=r"'category' has 301"):
            await knowledge.search(evolve(request(), hint_filter=HintFilter("c" * 301)))
    await knowledge.aclose()


@pytest.mark.parametrize("known", [{"doc_id": _TEXT}, {}], ids=["mapped", "learnt"])
async def test_a_document_id_beyond_ignore_above(index: Index, known: dict[str, Any]) -> None:
    """Rows that could neither be replaced nor deleted are not written, and a delete says so."""
    await index.make(metadata={"properties": known, "dynamic": True}, rows=False)
    knowledge = index.opened()
    long = "d" * 257
    with pytest.raises(InvalidChunkError, match=r"ignore_above"):
        await knowledge.upsert([_chunk("a", 0, "x", [1, 0, 0]), _chunk(long, 0, "x", [1, 0, 0])])
    with pytest.raises(InvalidChunkError, match=r"ignore_above"):
        await knowledge.replace_document(long, [_chunk(long, 0, "x", [1, 0, 0])])
    with pytest.raises(InvalidChunkError, match=r"ignore_above"):
        await knowledge.delete_documents(["a", long])
    assert await found(knowledge, request()) == []
    kept = "d" * 256
    await knowledge.replace_document(kept, [_chunk(kept, 0, "mine", [1, 0, 0])])
    await knowledge.delete_documents([kept])
    assert "mine" not in await found(knowledge, request())
    await knowledge.aclose()


async def test_a_name_that_is_learnt_later(index: Index) -> None:
    """A name that the mapping takes up after the first search is filtered by in the next one."""
    await index.make()
    knowledge = index.opened()
    assert await found(knowledge, request(team="red")) == []
    row = {"content": "new", "vector": [0, 1, 0], "metadata": {"team": "red"}}
    await index.client.index(index=index.name, id="new", document=row, refresh=True)
    assert await found(knowledge, request(team="red")) == ["new"]
    await knowledge.aclose()


async def test_C52_words_by_their_own_analyzer(index: Index) -> None:
    """Without a keyword field the content is searched, as its own analyzer cuts it."""
    await index.make()
    knowledge = index.opened()
    assert await found(knowledge, request(SearchMode.KEYWORD, "豆腐")) == ["near 豆腐"]
    assert await found(knowledge, request(SearchMode.KEYWORD, "HALF x")) == ["half"]
    assert await found(knowledge, request(SearchMode.KEYWORD, "!!")) == []
    await knowledge.aclose()


async def test_C48_no_field_of_words(index: Index) -> None:
    """Where no field is searched by words, every mode runs as dense and says so."""
    await index.make(content=_WORD)
    knowledge = index.opened()
    assert (await knowledge.probe()).modes == {SearchMode.DENSE}
    for mode in (SearchMode.KEYWORD, SearchMode.HYBRID):
        response = await knowledge.search(request(mode, tenant="acme"))
        assert (response.mode, response.degraded) == (SearchMode.DENSE, (f"{mode}_unavailable",))
        assert [hit.content for hit in response.hits] == ["near 豆腐", "half"]
    await knowledge.aclose()


async def test_C54_a_pasted_log(index: Index) -> None:
    """A query of 50 kB with thousands of words is answered by any analyzer."""
    await index.make()
    knowledge = index.opened()
    query = "near " + " ".join(f"w{n} 词{chr(0x4E00 + n % 5000)}" for n in range(5_000))
    for mode in SearchMode:
        assert "near 豆腐" in await found(knowledge, request(mode, query))
    await knowledge.aclose()


@pytest.mark.parametrize(
    ("changes", "settings", "message"),
    [
        ({}, {"content_field": "body"}, r"no field 'body' \(elasticsearch\.content-field\)"),
        ({}, {"vector_field": "emb"}, r"no field 'emb' \(elasticsearch\.vector-field\)"),
        ({}, {"metadata_field": "m"}, r"no field 'm' \(elasticsearch\.metadata-field\).*metadata"),
        ({}, {"vector_field": "content", "content_field": "vector"},
         r"vector.*dense_vector, not text.*'content'.*of the type text, not dense_vector"),
        ({"vector": {"index": False}}, {}, r"not indexed"),
        ({"vector": {**_HNSW, "element_type": "byte"}}, {}, r"byte elements, not float"),
        ({"metadata": _WORD}, {}, r"'metadata'.*keyword, not object or flattened"),
        ({"_meta": {"evidence_lookup": {"model": "m", "schema": 99}}}, {}, r"schema 99.*reads 1"),
        ({"_meta": {"evidence_lookup": {"model": "m", "schema": 1}}}, {},
         r"no field 'keyword_text' \(elasticsearch\.keyword-field\).*no field 'filter_terms'"),
    ],
)  # fmt: skip
async def test_R31_a_mismatch_names_both_sides(
    index: Index, changes: dict[str, Any], settings: dict[str, Any], message: str
) -> None:
    """What the settings name and the index lacks is told with the key and what is there."""
    await index.make(rows=False, **changes)
    knowledge = index.opened(**settings)
    with pytest.raises(SchemaMismatchError, match=message) as caught:
        await knowledge.probe()
    assert index.name in str(caught.value)
    with pytest.raises(SchemaMismatchError):
        await knowledge.search(request())
    with pytest.raises(SchemaMismatchError):
        await knowledge.prepare(model="m", dimension=3)
    await knowledge.aclose()


async def test_C42_another_dimension(index: Index) -> None:
    """An index of an unknown model is judged by its dimension, with both numbers."""
    await index.make()
    knowledge = index.opened()
    with pytest.raises(DimensionMismatchError, match=r"3 dimensions.*makes 4") as caught:
        await knowledge.prepare(model="m", dimension=4)
    assert (caught.value.expected, caught.value.actual) == (3, 4)
    assert "rebuild" not in str(caught.value)
    assert await knowledge.prepare(model="m", dimension=3) is False
    await knowledge.aclose()


async def test_an_alias_of_several_indexes(index: Index) -> None:
    """An alias serves while it stands for one index; which of several is meant is not guessed."""
    await index.make()
    alias = f"alias-{uuid4().hex}"
    await index.client.indices.put_alias(index=index.name, name=alias)
    knowledge = ElasticsearchKnowledge(
        ElasticsearchSettings(index.url, index=alias, timeout_seconds=60)
    )
    assert len(await found(knowledge, request())) == 4
    second = f"theirs-{uuid4().hex}"
    await index.client.indices.create(index=second, body={"aliases": {alias: {}}})
    with pytest.raises(SchemaMismatchError, match=r"stands for 2 indexes"):
        await knowledge.probe()
    await knowledge.aclose()
    await index.client.indices.delete(index=second)


@pytest.mark.parametrize("way", ["alias", "same name"])
async def test_R31_an_index_that_is_exchanged(
    index: Index, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores and filters are those of the index that a name stands for at the time of a search."""
    name = f"{index.name}-in-use"
    knowledge = index.opened(index=name)
    if way == "same name":
        # Who makes it anew leaves no sign in the hits: seen within seconds, here at once.
        monkeypatch.setattr(known_layout, "_SECONDS_BETWEEN_CHECKS", 0)

    async def make(similarity: str, tenant: dict[str, Any], dims: int = 3) -> None:
        before, index.name = index.name, name if way == "same name" else f"{index.name}-next"
        if way == "same name":
            await index.client.indices.delete(index=name, ignore_unavailable=True)
        await index.make(
            vector={**_HNSW, "similarity": similarity, "dims": dims},
            metadata={"properties": {"tenant": tenant, "n": {"type": "keyword"}}},
            rows=dims == 3,
        )
        if way == "alias":
            actions: list[dict[str, Any]] = [{"add": {"index": index.name, "alias": name}}]
            if before.endswith("-next"):
                actions.append({"remove_index": {"index": before}})
            await index.client.indices.update_aliases(actions=actions)

    await make("cosine", _WORD)
    for similarity, scores in (("cosine", [1.0, 0.6]), ("l2_norm", [0.0, 0.8])):
        if similarity == "l2_norm":
            await make(similarity, _TEXT)
        hits = (await knowledge.search(request(tenant="acme"))).hits
        assert [hit.score.value for hit in hits] == pytest.approx(scores, abs=1e-5)
        word = (await knowledge.search(request(SearchMode.KEYWORD, "half"))).hits
        assert word[0].similarity_score is not None
        assert word[0].similarity_score.value == pytest.approx(scores[1], abs=1e-5)
    await make("cosine", _WORD, dims=4)
    with pytest.raises(DimensionMismatchError, match=r"3 dimensions.*has 4"):
        await knowledge.search(request())
    longer = evolve(request(), vector=np.array([1, 0, 0, 0], dtype=np.float32))
    assert (await knowledge.search(longer)).hits == ()
    await knowledge.aclose()


async def test_writing_into_an_index_of_others(index: Index) -> None:
    """Chunks are written, replaced and deleted by the fields that are named, nothing else."""
    metadata = {"properties": {"doc_id": _TEXT}, "dynamic": True}
    await index.make(metadata=metadata, dynamic="strict")
    knowledge = index.opened()
    other = _chunk("other", 0, "kept", [0, 1, 0])
    await knowledge.upsert([other, *(_chunk("a", n, f"old {n}", [0, 0, 1]) for n in range(3))])
    await knowledge.replace_document("a", [_chunk("a", 0, "new", [0, 0, 1])])
    hits = (await knowledge.search(request(top_k=20, doc_id=("a", "other")))).hits
    assert {hit.id: hit.content for hit in hits} == {"a#chunk-0": "new", "other#chunk-0": "kept"}
    await knowledge.delete_documents(["a", "Other", "b "])
    left = await found(knowledge, request(top_k=20))
    assert sorted(left) == sorted(["kept", *(text for text, _, _ in _ROWS)])
    await knowledge.delete_documents(["b"])
    assert "half" not in await found(knowledge, request(top_k=20))
    await knowledge.aclose()


async def test_own_and_other_models(index: Index) -> None:
    """An own index tells its model, and is refused to another one."""
    knowledge = index.opened(content_field="text", keyword_field="words", metric="L2")
    assert await knowledge.prepare(model="one@1", dimension=3) is True
    assert await knowledge.prepare(model="one@1", dimension=3) is False
    capabilities = await knowledge.probe()
    assert capabilities.embedder == "one@1"
    assert capabilities.semantics is ScoreSemantics.L2_SQUARED
    with pytest.raises(EmbedderMismatchError, match=r"one@1.*two@1.*rebuild"):
        await knowledge.prepare(model="two@1", dimension=3)
    await knowledge.aclose()


def _chunk(doc_id: str, number: int, text: str, vector: list[float]) -> EmbeddedChunk:
    return EmbeddedChunk(embedded(doc_id, number, text).chunk, np.array(vector, dtype=np.float32))
