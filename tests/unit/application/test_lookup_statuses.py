"""Floor, statuses, levels, completeness, and hits of an unusual kind."""

import math

import pytest
from attrs import evolve
from tests.unit.application.bench import RULES, Bench, bench, hit
from tests.unit.application.fakes import NOTHING, Step, found

from evidence_lookup.domain.hit import FoundBy, KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.domain.selection import SelectionLimits

KEYWORD_HIT = evolve(hit("keyword"), score=Score(7.0, ScoreSemantics.BM25))


def drops(result: LookupResult) -> dict[str, str]:
    """The reason by key."""
    return {drop.evidence_key: str(drop.reason) for drop in result.retrieval_trace.drops}


def keys(result: LookupResult) -> list[str]:
    """The keys of the blocks."""
    return [block.evidence_key for block in result.evidence_blocks]


async def test_R11_every_candidate_is_a_block_or_a_drop_with_its_reason() -> None:
    """Candidates in are blocks out and drops, each drop with key and reason."""
    hits = [hit("a", n, 0.9 - n / 100) for n in range(4)]
    hits += [hit("a", 0, 0.85), hit("b", cosine=0.8), hit("c", cosine=0.7), hit("far", cosine=0.1)]
    rules = evolve(RULES, limits=SelectionLimits(3, 2, 0.2))
    trace = (await bench(found(*hits), rules=rules).ask()).retrieval_trace
    assert (trace.candidate_count, trace.block_count, len(trace.drops)) == (8, 3, 5)
    assert [(drop.evidence_key, drop.reason) for drop in trace.drops] == [
        ("far#chunk-0", "below_floor"),
        ("a#chunk-0", "duplicate"),
        ("a#chunk-2", "document_cap"),
        ("a#chunk-3", "document_cap"),
        ("c#chunk-0", "return_n"),
    ]


async def test_C11_room_that_the_cap_frees_goes_to_other_documents() -> None:
    """One long document does not fill the window."""
    hits = [hit("a", n, 0.9 - n / 100) for n in range(8)]
    hits += [hit("b", cosine=0.7), hit("c", cosine=0.6)]
    rules = evolve(RULES, retrieve_k=10, limits=SelectionLimits(4, 2, 0.2))
    result = await bench(found(*hits), rules=rules).ask()
    assert keys(result) == ["a#chunk-0", "a#chunk-1", "b#chunk-0", "c#chunk-0"]


async def test_C11_where_one_document_matches_the_hint_says_that_the_cap_held_back() -> None:
    """Two blocks of the only document stay, and the reader learns that there is more."""
    result = await bench(found(*(hit("a", n, 0.9 - n / 100) for n in range(8)))).ask()
    assert keys(result) == ["a#chunk-0", "a#chunk-1"]
    assert result.completeness_hint == "capped_per_document"
    assert "6 more chunks" in result.completeness_message


@pytest.mark.parametrize("similarity", [0.1, 0.3, None])
async def test_R53_the_floor_is_judged_on_the_dense_similarity(similarity: float | None) -> None:
    """A keyword or fused score is not held against the floor; the chunk's own similarity is."""
    dense = None if similarity is None else Score(similarity, ScoreSemantics.COSINE)
    fused = evolve(hit("fused"), score=Score(0.01, ScoreSemantics.RANK_FUSED))
    hits = [evolve(one, similarity_score=dense) for one in (fused, KEYWORD_HIT)]
    result = await bench(found(*hits)).ask()
    if similarity == 0.1:
        assert drops(result) == dict.fromkeys(["fused#chunk-0", "keyword#chunk-0"], "below_floor")
    else:
        assert keys(result) == ["fused#chunk-0", "keyword#chunk-0"]
        assert {block.similarity for block in result.evidence_blocks} == {similarity}


async def test_R53_a_similarity_at_the_floor_is_evidence() -> None:
    """The floor itself is not below the floor."""
    result = await bench(found(hit("at", cosine=0.2), hit("under", cosine=0.1999))).ask()
    assert keys(result) == ["at#chunk-0"]


@pytest.mark.parametrize(
    ("step", "status", "level", "is_found"),
    [
        (found(hit(cosine=0.8)), "found", "high", True),
        (found(hit(cosine=0.79)), "found", "reference", True),
        (found(hit(cosine=0.5)), "found", "reference", True),
        (found(KEYWORD_HIT), "found", "reference", True),
        (found(hit(cosine=0.49)), "low_relevance", "low", True),
        (found(hit(cosine=0.1)), "no_evidence", "none", False),
        (NOTHING, "no_evidence", "none", False),
        (Step(error=ConnectionError("refused")), "unavailable", "none", False),
    ],
)
async def test_R54_status_and_level(step: Step, status: str, level: str, is_found: bool) -> None:
    """Status and level follow from the best block, `found` from the status."""
    one = bench(step)
    result = await one.ask()
    assert (result.evidence_status, result.relevance_level) == (status, level)
    assert result.found is is_found
    assert result.message
    assert one.record.evidence_status == status


def capped() -> Bench:
    """More of one document than the cap lets through."""
    return bench(found(*(hit("a", n) for n in range(3))))


def limited() -> Bench:
    """More documents than blocks come out."""
    return bench(found(*(hit(f"d{n}") for n in range(6))))


def over_budget() -> Bench:
    """A block longer than the budget."""
    long = evolve(hit("a"), content="word " * 500)
    return bench(found(long), rules=evolve(RULES, context_budget=100))


@pytest.mark.parametrize(
    ("one", "hint"),
    [
        (bench(found(hit())), "complete"),
        (bench(found(hit("a"), hit("b"), hit("far", cosine=0.1))), "complete"),
        (capped(), "capped_per_document"),
        (limited(), "limited_by_return_n"),
        (over_budget(), "cut_by_budget"),
        (bench(NOTHING), "none"),
    ],
)
async def test_R54_completeness(one: Bench, hint: str) -> None:
    """One word says whether the reader has all that was accepted, and a sentence stands by it."""
    result = await one.ask()
    assert result.completeness_hint == hint
    assert result.completeness_message.endswith(".")


async def test_R37_the_pack_keeps_the_budget_and_lists_what_it_cut() -> None:
    """The pack is within its budget, and its summary names the source that was cut."""
    result = await over_budget().ask()
    summary = result.context_pack.summary
    assert summary.used <= summary.budget == 100
    assert [(one.evidence_key, one.reason) for one in summary.cut] == [("a#chunk-0", "budget")]


async def test_C18_a_hit_without_a_score_is_kept() -> None:
    """No score is not a low score: the hit stays, and nothing is retried for it."""
    one = bench(found(hit("none", cosine=None), hit("good", cosine=0.9)))
    result = await one.ask()
    assert set(keys(result)) == {"none#chunk-0", "good#chunk-0"}
    assert result.evidence_status == "found"


async def test_C24_ranks_without_scores_are_an_order() -> None:
    """Hits of a store that gives no number keep their order and have no similarity."""
    hits = [
        KnowledgeSearchHit(
            id=f"x{n}",
            content="text",
            score=Score(None, ScoreSemantics.RANK_ONLY),
            found_by=(FoundBy(SearchMode.HYBRID, n + 1),),
        )
        for n in range(3)
    ]
    result = await bench(found(*hits)).ask()
    assert keys(result) == ["vector:x0", "vector:x1", "vector:x2"]
    assert [block.score.semantics for block in result.evidence_blocks] == ["rank_only"] * 3
    assert result.evidence_blocks[0].hit_reasons == ("hybrid:rank 1",)


async def test_C26_a_nan_score_never_stands_above_a_number() -> None:
    """A hit of no value stands behind those that have one, wherever the port put it."""
    result = await bench(found(hit("nan", cosine=math.nan), hit("good", cosine=0.9))).ask()
    assert keys(result)[0] == "good#chunk-0"


async def test_C26_nan_and_infinity_are_no_value() -> None:
    """Such scores read as None, and judge nothing."""
    hits = [hit("good", cosine=0.9), hit("nan", cosine=math.nan), hit("inf", cosine=math.inf)]
    result = await bench(found(*hits)).ask()
    values = {block.doc_id: block.score.value for block in result.evidence_blocks}
    assert values == {"nan": None, "inf": None, "good": 0.9}
    assert result.retrieval_trace.attempts[0].best_similarity == 0.9


async def test_C06_hits_without_an_identity_get_distinct_keys_and_a_warning() -> None:
    """Equal texts without id and index stay two blocks, by rank, and the trace warns."""
    bare = evolve(hit(), id=None, metadata={})
    result = await bench(found(bare, bare, hit("whole", cosine=0.5))).ask()
    assert keys(result) == ["rank:1", "rank:2", "whole#chunk-0"]
    (warning,) = result.retrieval_trace.warnings
    assert warning.startswith("synthetic_identity: 2 of 3 hits")


async def test_R02_R04_a_hit_without_an_index_is_named_by_its_id_everywhere() -> None:
    """The key of the store's own id is the same in block, pack, rerank trace and record."""
    one = bench(found(evolve(hit(), id="p-7", metadata={"doc_id": "a"})))
    result = await one.ask()
    details = one.record.retrieval_details
    assert keys(result) == ["vector:p-7"]
    assert result.context_pack.entries[0].evidence_key == "vector:p-7"
    assert result.rerank_trace[0].evidence_key == "vector:p-7"
    assert details.evidence_blocks[0].evidence_key == "vector:p-7"
    assert details.context_pack_summary.included[0].evidence_key == "vector:p-7"
