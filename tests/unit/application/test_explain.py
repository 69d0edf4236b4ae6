"""Explaining a chunk on the memory store: the stage, and the true rank by brute force (R58)."""

import json
import math
from collections.abc import Mapping
from typing import Any

import anyio
import numpy as np
import pytest
from attrs import evolve, frozen
from tests.unit.application.bench import RULES, bench, hit
from tests.unit.application.fakes import (
    DIMENSION,
    HANG,
    MODEL,
    FakeEmbedder,
    FakeRecorder,
    Step,
    SubstringMatcher,
    TickingClock,
    found,
)

from evidence_lookup.adapters.json_values import to_json
from evidence_lookup.adapters.memory.bm25 import bm25
from evidence_lookup.adapters.memory.catalogue import MemoryCatalogue
from evidence_lookup.adapters.memory.knowledge import MemoryKnowledge
from evidence_lookup.application.explain import Explain
from evidence_lookup.application.hint_index import HintIndex
from evidence_lookup.application.lookup import Lookup
from evidence_lookup.application.lookup_rules import LookupRules
from evidence_lookup.application.readiness import Readiness
from evidence_lookup.application.recording import Recording
from evidence_lookup.application.retrieval import Retriever
from evidence_lookup.domain.document import CatalogueEntry, Chunk
from evidence_lookup.domain.errors import (
    BackendFailedError,
    BackendUnavailableError,
    CallerError,
    ScopeError,
)
from evidence_lookup.domain.explanation import Stage
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.selection import SelectionLimits
from evidence_lookup.domain.text import estimate_tokens
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
    SearchCapabilities,
)
from evidence_lookup.ports.knowledge_store import EmbeddedChunk

COUNT = 90
QUERY = "why does the redis replica lag"
TENANT = Scope({"tenant": "acme"})
FEW = evolve(
    RULES,
    retrieve_k=10,
    limits=SelectionLimits(return_n=3, max_chunks_per_document=2, floor=0.3),
    mode=SearchMode.DENSE,
)


class WatchedKnowledge(MemoryKnowledge):
    """The memory store; keeps every request, and can fail or end at a depth."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[KnowledgeSearchRequest] = []
        self.max_top_k = 16_384
        self.fails_from = math.inf

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """As the memory store, until a search asks for too much."""
        self.requests.append(request)
        if request.top_k >= self.fails_from:
            raise BackendFailedError("that is too deep")
        return await super().search(request)

    async def probe(self) -> SearchCapabilities:
        """As the memory store, with another limit."""
        return evolve(await super().probe(), max_top_k=self.max_top_k)


@frozen
class Library:
    """An index whose similarities to every query are known, and the use case."""

    explain: Explain
    knowledge: WatchedKnowledge
    catalogue: MemoryCatalogue
    recorder: FakeRecorder
    rows: Mapping[str, EmbeddedChunk]

    def by_cosine(self, **scope: str) -> list[tuple[str, float]]:
        """Every chunk in *scope*, nearest first, computed from its stored vector."""
        cosines = {
            key: float(row.vector[0] / np.linalg.norm(row.vector))
            for key, row in self.rows.items()
            if Scope(scope).allows(row.chunk.metadata())
        }
        return sorted(cosines.items(), key=lambda one: (-one[1], one[0]))

    def by_words(self, query: str) -> list[str]:
        """The chunks that share a word with *query*, by BM25."""
        weights = bm25(query, {key: row.chunk.passage for key, row in self.rows.items()})
        return sorted(weights, key=lambda key: (-weights[key], key))


def vector(cosine: float) -> Any:
    """A unit vector of that cosine to every query of the fake embedder."""
    return np.array([cosine, math.sqrt(1 - cosine**2), 0, 0], dtype=np.float32)


async def library(rules: LookupRules = FEW) -> Library:
    """Thirty documents of three chunks: similarities fall from 0.95, chunks of a document apart."""
    knowledge, catalogue, embedder = WatchedKnowledge(), MemoryCatalogue(), FakeEmbedder()
    recorder = FakeRecorder()
    await knowledge.prepare(model=MODEL, dimension=DIMENSION)
    rows: dict[str, EmbeddedChunk] = {}
    for number in range(COUNT):
        doc, index = number % 30, number // 30
        chunk = Chunk(
            doc_id=f"d{doc:02}",
            chunk_index=index,
            content=f"Part {index}. " + "redis replica lag " * (number % 7 == 3),
            start=0,
            end=1,
            source=f"d{doc:02}.md",
            title=f"Secret title {doc}",
            category="databases" if doc % 2 else "network",
            scope={"tenant": "acme" if doc < 25 else "rival"},
        )
        rows[chunk.evidence_key] = EmbeddedChunk(chunk, vector(0.95 - number / 100))
    await knowledge.upsert(list(rows.values()))
    await catalogue.put(
        [
            CatalogueEntry(
                doc_id=row.chunk.doc_id,
                source=row.chunk.source,
                root="/kb",
                title=row.chunk.title,
                category=row.chunk.category,
                keywords=("postgres",) if row.chunk.doc_id == "d01" else (),
                scope=row.chunk.scope,
                content_hash="h",
                chunk_count=3,
            )
            for row in rows.values()
            if row.chunk.chunk_index == 0
        ]
    )
    lookup = Lookup(
        hint_index=HintIndex(catalogue, SubstringMatcher),
        retriever=Retriever(knowledge, embedder, Readiness(knowledge, embedder)),
        count_tokens=estimate_tokens,
        recording=Recording(recorder),
        clock=TickingClock(),
        new_id=lambda: "00000000-0000-7000-8000-000000000001",
        rules=rules,
    )
    return Library(Explain(lookup, catalogue), knowledge, catalogue, recorder, rows)


@pytest.mark.parametrize("scope", [{}, {"tenant": "acme"}])
async def test_R58_beyond_retrieve_k_rank_and_score_are_those_of_brute_force(
    scope: dict[str, str],
) -> None:
    """At any depth the rank in scope and the score are the true ones; nothing is recorded."""
    one = await library()
    ranking = one.by_cosine(**scope)
    for place in (10, 11, 39, 40, 60, len(ranking) - 1):
        key, cosine = ranking[place]
        one.knowledge.requests.clear()
        told = await one.explain.explain(QUERY, key, scope=Scope(scope))
        assert (told.stage, told.rank) == (Stage.NOT_RETRIEVED, place + 1)
        assert told.score is not None
        assert told.score.value == pytest.approx(cosine, abs=1e-6)
        assert f"Rank {place + 1} of the dense list, and 10 hits" in told.message
        assert ("pass" if cosine >= 0.3 else "below") in told.message
        depths = [request.top_k for request in one.knowledge.requests]
        assert depths == [10, 40, 160][: 2 if place < 40 else 3]
        assert all(request.scope == Scope(scope) for request in one.knowledge.requests)
    assert one.recorder.records == []


async def test_R58_in_hybrid_mode_both_lists_have_their_true_ranks() -> None:
    """Dense and keyword ranks are brute force's; a chunk without a word of the query has none."""
    one = await library(evolve(FEW, mode=SearchMode.HYBRID, limits=evolve(FEW.limits, floor=0.1)))
    dense, words = [key for key, _ in one.by_cosine()], one.by_words(QUERY)
    fetched = await one.explain.lookup.answer(QUERY)
    assert fetched[1] is not None
    assert fetched[1].found is not None
    listed = {candidate.evidence_key for candidate in fetched[1].found.candidates}
    asked = [key for key in (*words, *dense[30:60:7]) if key not in listed]
    assert any(key in words for key in asked)
    for key in asked:
        told = await one.explain.explain(QUERY, key)
        ranks = {standing.mode: standing.rank for standing in told.standings}
        assert told.stage is Stage.NOT_RETRIEVED
        assert ranks[SearchMode.DENSE] == dense.index(key) + 1
        expected = words.index(key) + 1 if key in words else None
        assert ranks[SearchMode.KEYWORD] == expected
        assert ("Keyword: no hit" in told.message) == (expected is None)
        assert "Fused ranks move with the depth" in told.message


async def test_R58_every_candidate_has_the_stage_that_the_answer_shows() -> None:
    """Blocks, pack and drops of a real lookup: each key is explained as the answer has it."""
    rules = evolve(FEW, retrieve_k=80, context_budget=60, limits=evolve(FEW.limits, return_n=4))
    rules = evolve(rules, limits=evolve(rules.limits, max_chunks_per_document=1))
    one = await library(rules)
    answer, _ = await one.explain.lookup.answer(QUERY)
    omitted = {source.evidence_key for source in answer.context_pack.summary.omitted}
    expected = {drop.evidence_key: drop.reason.value for drop in answer.retrieval_trace.drops}
    for block in answer.evidence_blocks:
        key = block.evidence_key
        expected[key] = "budget" if key in omitted else "returned"
    assert set(expected.values()) == {
        "returned",
        "budget",
        "return_n",
        "document_cap",
        "below_floor",
    }
    for key, stage in expected.items():
        assert (await one.explain.explain(QUERY, key)).stage.value == stage
    assert {request.top_k for request in one.knowledge.requests} == {80}


async def test_R58_R16_the_hints_filter_is_named_with_the_rank_beyond_it() -> None:
    """A chunk of another category than the hints gave: filtered, with its unfiltered rank."""
    one = await library()
    dense = [key for key, _ in one.by_cosine()]
    told = await one.explain.explain("postgres", "d04#chunk-0")
    assert (told.stage, told.attempt) == (Stage.FILTERED, "filtered")
    assert told.rank == dense.index("d04#chunk-0") + 1
    assert "'databases'" in told.message
    assert "'network'" in told.message
    deep = await one.explain.explain("postgres", "d05#chunk-2")
    same = [key for key in dense if int(key[1:3]) % 2]
    assert (deep.stage, deep.rank) == (Stage.NOT_RETRIEVED, same.index("d05#chunk-2") + 1)
    await one.catalogue.remove(["d04"])
    by_hit = await one.explain.explain("postgres", "d04#chunk-0")
    assert (by_hit.stage, by_hit.rank) == (Stage.FILTERED, told.rank)


async def test_R58_R26_of_a_foreign_tenants_chunk_only_the_scopes_name_is_told() -> None:
    """No content, title, category, rank or score of it, no value of the scope, no wider search."""
    one = await library()
    for key in ("d27#chunk-0", "d27#chunk-99"):
        told = await one.explain.explain(QUERY, key, scope=TENANT)
        assert (told.stage, told.excluded_by) == (Stage.FILTERED, ("tenant",))
        assert (told.rank, told.score, told.similarity) == (None, None, None)
        shown = json.dumps(to_json(told), default=str)
        for secret in ("rival", "acme", "Secret", "Part", "databases", "d27.md"):
            assert secret not in shown
    assert [(asked.scope, asked.top_k) for asked in one.knowledge.requests] == [(TENANT, 10)] * 2
    for name in ("d27", "d27.md"):
        with pytest.raises(CallerError) as refused:
            await one.explain.explain(QUERY, name, scope=TENANT)
        assert "d27#chunk" not in str(refused.value)
    unknown = await one.explain.explain(QUERY, "d027#chunk-0", scope=TENANT)
    assert "d27" not in unknown.message.replace("d027", "")


async def test_R58_R26_a_scope_on_chunks_tells_nothing_of_a_document() -> None:
    """Its entry cannot say whether the chunk is in scope: no count of chunks, category or name."""
    shelf = await library()
    scope = Scope({"chunk_index": 1})
    for key in ("d04#chunk-7", "d04#chunk-0", "nobody#chunk-0"):
        told = await shelf.explain.explain(QUERY, key, scope=scope)
        assert told.stage is Stage.NOT_INDEXED
        assert told.message == "The index has no such chunk in the scope (chunk_index)."
        assert json.dumps(to_json(told)).replace(key, "?").count("d04") == 0
    with pytest.raises(CallerError, match="as lookups show it"):
        await shelf.explain.explain(QUERY, "d04", scope=scope)


async def test_R58_a_required_scope_is_required_here_too() -> None:
    """Without it nothing is looked up, and not a word is said of the key."""
    one = await library(evolve(FEW, required_scope=("tenant",)))
    for key in ("d27#chunk-0", "d27"):
        with pytest.raises(ScopeError, match="tenant"):
            await one.explain.explain(QUERY, key)
    assert one.knowledge.requests == []


async def test_R58_what_is_not_indexed_is_said_to_be_not_indexed() -> None:
    """An unknown document with what may be meant, an index too high, a chunk that was lost."""
    one = await library()
    unknown = await one.explain.explain(QUERY, "d3#chunk-0")
    assert unknown.stage is Stage.NOT_INDEXED
    assert "meant?" in unknown.message
    beyond = await one.explain.explain(QUERY, "d03#chunk-3")
    assert (beyond.stage, beyond.standings) == (Stage.NOT_INDEXED, ())
    await one.knowledge.delete_documents(["d03"])
    lost = await one.explain.explain(QUERY, "d03#chunk-1")
    assert lost.stage is Stage.NOT_INDEXED
    assert "--rebuild" in lost.message
    with pytest.raises(CallerError, match="d04#chunk-0 to d04#chunk-2"):
        await one.explain.explain(QUERY, "d04.md")


async def test_R58_a_search_as_deep_as_the_backend_allows_ends_there() -> None:
    """What lies beyond is beyond that rank, and the backend is not asked for more."""
    one = await library()
    one.knowledge.max_top_k = 30
    key, _ = one.by_cosine()[70]
    told = await one.explain.explain(QUERY, key)
    assert (told.stage, told.rank) == (Stage.NOT_RETRIEVED, None)
    assert "Beyond rank 30 of the dense list" in told.message
    assert [request.top_k for request in one.knowledge.requests] == [10, 30]


async def test_R58_a_deep_search_that_fails_leaves_what_is_known() -> None:
    """The verdict stands, with how deep it was searched and why no deeper."""
    one = await library()
    one.knowledge.fails_from = 100
    key, _ = one.by_cosine()[70]
    told = await one.explain.explain(QUERY, key)
    assert told.stage is Stage.NOT_RETRIEVED
    assert "Not in the first 40 of the dense list" in told.message
    assert "that is too deep" in told.message


async def test_R58_the_deep_search_ends_at_the_deadline() -> None:
    """A backend that hangs at the second search costs one more deadline, not for ever."""
    rules = evolve(RULES, deadline_seconds=0.3)
    one = bench(found(hit("a")), HANG, rules=rules)
    with anyio.fail_after(20):
        told = await Explain(one.lookup, one.catalogue).explain(QUERY, "x#chunk-0")
    assert told.stage is Stage.NOT_RETRIEVED
    assert "timeout" in told.message


@pytest.mark.parametrize(("query", "stage"), [(" \u200b", "empty_query"), (QUERY, "l1_disabled")])
async def test_R58_nothing_searched_is_nothing_searched_here_either(query: str, stage: str) -> None:
    """An empty query and a disabled L1 are the answer, without a deep search."""
    one = await library(evolve(FEW, l1_enabled=False))
    told = await one.explain.explain(query, "d01#chunk-0")
    assert (told.stage.value, one.knowledge.requests) == (stage, [])


async def test_R58_R30_a_backend_that_is_down_is_an_error_of_its_kind() -> None:
    """No explanation is made up where the lookup itself got no answer."""
    one = bench(Step(error=BackendUnavailableError("nobody answers")))
    with pytest.raises(BackendUnavailableError, match="nobody answers"):
        await Explain(one.lookup, one.catalogue).explain(QUERY, "a#chunk-0")
    assert one.recorder.records == []


async def test_R58_a_catalogue_that_fails_costs_only_what_it_knows() -> None:
    """The index alone still gives rank and score."""
    one = bench(found(hit("a")), found(hit("a"), hit("b")))
    one.catalogue.step = Step(error=BackendFailedError("the catalogue is gone"))
    told = await Explain(one.lookup, one.catalogue).explain(
        QUERY, "b#chunk-0", mode=SearchMode.DENSE
    )
    assert (told.stage, told.rank) == (Stage.NOT_RETRIEVED, 2)
    assert "the catalogue is gone" in told.message


async def test_R58_R02_a_key_of_a_stores_own_id_is_found_by_it() -> None:
    """A hit without document and chunk is explained by `vector:ID`, without the catalogue."""
    bare = evolve(hit("a", cosine=0.6), id="77", metadata={})
    one = bench(found(hit("a")), found(hit("a"), hit("b"), bare))
    told = await Explain(one.lookup, one.catalogue).explain(
        QUERY, "vector:77", mode=SearchMode.DENSE
    )
    assert (told.stage, told.rank) == (Stage.NOT_RETRIEVED, 3)
    assert "get" not in one.log.lines


async def test_R58_R05_two_hits_of_one_key_are_one_chunk() -> None:
    """The key has the fate of its better hit, and the rank of the other one is told."""
    one = bench(found(hit("a"), hit("b", cosine=0.8), hit("a", cosine=0.7)))
    told = await Explain(one.lookup, one.catalogue).explain(QUERY, "a#chunk-0")
    assert (told.stage, told.rank, told.duplicates) == (Stage.RETURNED, 1, (3,))


async def test_R57_R58_the_same_question_has_the_same_explanation() -> None:
    """Byte for byte, in every stage that a search decides."""
    one = await library(evolve(FEW, mode=SearchMode.HYBRID))
    for key in ("d00#chunk-0", "d05#chunk-0", "d14#chunk-2", "d07#chunk-9", "zz#chunk-0"):
        first = await one.explain.explain(QUERY, key)
        second = await one.explain.explain(QUERY, key)
        assert json.dumps(to_json(first)) == json.dumps(to_json(second))
