"""Why a chunk is, or is not, in an answer (R58)."""

import time
from datetime import UTC, datetime

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.domain.samples import NO_HINTS, hit, result

from evidence_lookup.domain.candidate import candidates_from
from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.errors import CallerError
from evidence_lookup.domain.evidence import RetrievalLayer, evidence_block
from evidence_lookup.domain.explanation import (
    Absence,
    Explanation,
    Run,
    Stage,
    Standing,
    StepOutcome,
    check_key,
    documents_meant,
    exclusion,
    explain_absence,
    explain_run,
    run_of_record,
    run_of_result,
)
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.pack import pack
from evidence_lookup.domain.path_try import TraceError
from evidence_lookup.domain.record import tool_invocation
from evidence_lookup.domain.rerank import rerank
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.domain.selection import DropReason, SelectionLimits, select
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.domain.text import estimate_tokens
from evidence_lookup.domain.trace import Attempt, FallbackReason, RetrievalTrace
from evidence_lookup.settings import Settings
from evidence_lookup.settings_loading import flatten

LIMITS = SelectionLimits(return_n=3, max_chunks_per_document=2, floor=0.2)
HITS = (
    hit("a", 0, 0.9, content="first " * 50),
    hit("a", 1, 0.8, content="second " * 50),
    hit("a", 2, 0.7),
    hit("b", 0, 0.6, content="third " * 50),
    hit("a", 0, 0.5),
    hit("c", 0, 0.4),
    hit("d", 0, 0.1),
)


def looked_up(
    hits: tuple[KnowledgeSearchHit, ...] = HITS,
    *,
    limits: SelectionLimits = LIMITS,
    budget: int = 10_000,
    hint_filter: str | None = None,
    mode: SearchMode = SearchMode.DENSE,
    top_k: int = 7,
) -> tuple[LookupResult, Run]:
    """The result of a lookup that the port answered with *hits*, and what is left of it."""
    candidates = candidates_from(hits)
    accepted, drops = select(rerank(candidates, NO_HINTS), limits)
    blocks = tuple(evidence_block(one, RetrievalLayer.L1) for one in accepted)
    attempt = Attempt(
        "filtered" if hint_filter else "unfiltered",
        requested_mode=mode,
        top_k=top_k,
        hint_filter=hint_filter,
        mode=mode,
        candidate_count=len(candidates),
        block_count=len(blocks),
    )
    trace = RetrievalTrace(
        attempts=(attempt,),
        selected_attempt=attempt.name,
        candidate_count=len(candidates),
        block_count=len(blocks),
        drops=drops,
    )
    answer = result(
        *blocks,
        accepted=accepted,
        context_pack=pack(blocks, budget, estimate_tokens),
        trace=trace,
    )
    return answer, run_of_result(answer, candidates=candidates, limits=limits)


def recorded(answer: LookupResult) -> Run:
    """What the record of *answer* leaves."""
    now = datetime(2026, 8, 1, tzinfo=UTC)
    record = tool_invocation(answer, session_id=None, created_at=now, duration_seconds=0.1)
    return run_of_record(record)


def explained(key: str, **settings: object) -> tuple[Explanation, Explanation]:
    """*key* after a fresh run, and as its record tells it."""
    answer, run = looked_up(**settings)  # type: ignore[arg-type]
    return explain_run(key, run), explain_run(key, recorded(answer))


def outcomes(explanation: Explanation) -> list[StepOutcome]:
    """What became of the chunk at each stage."""
    return [step.outcome for step in explanation.steps]


def test_R58_a_returned_chunk_is_told_with_its_rank_and_place_in_the_pack() -> None:
    """Every stage is passed; ranks, score, similarity, floor and merged hits are named."""
    fresh, record = explained("a#chunk-0")
    assert (fresh.stage, fresh.final_rank, fresh.packed) == (Stage.RETURNED, 1, "whole")
    assert (fresh.rank, fresh.score) == (1, Score(0.9, ScoreSemantics.COSINE))
    assert (fresh.similarity, fresh.floor, fresh.setting) == (0.9, 0.2, None)
    assert fresh.duplicates == record.duplicates == (5,)
    assert "rank 5" in fresh.message
    assert outcomes(fresh) == [StepOutcome.PASSED] * 8
    assert (record.stage, record.final_rank, record.score) == (Stage.RETURNED, 1, fresh.score)
    assert (record.rank, record.floor) == (None, None)
    assert record.invocation_id
    assert fresh.invocation_id is None


@pytest.mark.parametrize(
    ("key", "stage", "rank", "setting", "told"),
    [
        ("d#chunk-0", Stage.BELOW_FLOOR, 7, "rag.evidence-floor", "0.100 is below"),
        ("a#chunk-2", Stage.DOCUMENT_CAP, 3, "rag.max-chunks-per-document", "a#chunk-1"),
    ],
)
def test_R58_a_lost_chunk_is_told_with_the_stage_and_its_setting(
    key: str, stage: Stage, rank: int, setting: str, told: str
) -> None:
    """The result and the record name one stage; what is behind it was not reached."""
    for one in explained(key):
        assert (one.stage, one.rank, one.setting) == (stage, rank, setting)
        assert told in one.message
        assert outcomes(one).count(StepOutcome.LOST) == 1
        lost = outcomes(one).index(StepOutcome.LOST)
        assert one.steps[lost].stage is stage
        assert set(outcomes(one)[:lost]) == {StepOutcome.PASSED}
        assert set(outcomes(one)[lost + 1 :]) == {StepOutcome.NOT_REACHED}


def test_R58_document_cap_names_the_chunks_that_took_the_places() -> None:
    """Both are named, also where return-n held one of them back afterwards."""
    narrow = evolve(LIMITS, return_n=1)
    for one in explained("a#chunk-2", limits=narrow):
        assert one.instead == ("a#chunk-0", "a#chunk-1")


def test_R58_return_n_tells_the_rank_after_selection() -> None:
    """The rank counts the accepted only, and is what rag.return-n would have to be."""
    for one in explained("c#chunk-0", limits=evolve(LIMITS, return_n=2)):
        assert (one.stage, one.rank, one.final_rank) == (Stage.RETURN_N, 6, 4)
        assert "rag.return-n would have to be 4" in one.message


def test_R58_R37_the_budget_cuts_or_leaves_out() -> None:
    """A block without room is lost to the budget; one that was cut is returned, and cut."""
    for cut in explained("b#chunk-0", budget=280):
        assert (cut.stage, cut.packed, cut.setting) == (
            Stage.RETURNED,
            "cut",
            "rag.context-budget",
        )
    for lost in explained("b#chunk-0", budget=245):
        assert (lost.stage, lost.packed, lost.final_rank) == (Stage.BUDGET, None, 3)
        assert outcomes(lost)[-1] is StepOutcome.LOST


def test_R58_near_figures_are_told_apart() -> None:
    """A similarity a hair below the floor is not printed as equal to it."""
    hits = (hit("a", 0, 0.9), hit("b", 0, 0.1999999))
    fresh, _ = explained("b#chunk-0", hits=hits)
    assert "0.1999999 is below the evidence floor 0.2000000" in fresh.message


@pytest.mark.parametrize("reason", ["empty_query", "l1_disabled"])
def test_R58_nothing_searched_is_its_own_stage(reason: str) -> None:
    """An empty query and a disabled L1 lose every chunk, and no stage was reached."""
    answer = result(trace=RetrievalTrace(reason=reason))
    told = explain_run("a#chunk-0", recorded(answer))
    assert (told.stage, told.steps) == (Stage(reason), ())


def test_R58_R30_an_unavailable_lookup_says_so_with_its_error() -> None:
    """Kind and message of the selected attempt's error are in the words."""
    error = TraceError("timeout", "nobody answers")
    attempt = Attempt("unfiltered", requested_mode=SearchMode.DENSE, top_k=5, error=error)
    trace = RetrievalTrace(attempts=(attempt,), selected_attempt="unfiltered", reason="timeout")
    answer = evolve(result(trace=trace), evidence_status=EvidenceStatus.UNAVAILABLE)
    told = explain_run("a#chunk-0", recorded(answer))
    assert told.stage is Stage.UNAVAILABLE
    assert "timeout: nobody answers" in told.message


def test_R58_a_record_does_not_pretend_to_know_where_an_absent_chunk_is() -> None:
    """It was not retrieved; whether it is indexed, or filtered, stays open."""
    for one in explained("x#chunk-0", hint_filter="databases"):
        assert (one.stage, one.rank, one.score) == (Stage.NOT_RETRIEVED, None, None)
        assert outcomes(one)[:3] == [StepOutcome.UNKNOWN, StepOutcome.UNKNOWN, StepOutcome.LOST]
        assert "'databases'" in one.message


def test_R58_a_shortened_record_does_not_know() -> None:
    """Where the limit in bytes cost drops, an absent key may have been one of them."""
    _, run = looked_up()
    short = evolve(run, trace=evolve(run.trace, drops=run.trace.drops[:1]))
    told = explain_run("a#chunk-2", short)
    assert told.stage is Stage.UNKNOWN
    assert told.setting in flatten(Settings())
    alone = evolve(run, blocks={}, trace=evolve(run.trace, drops=run.drops("a#chunk-0")))
    assert explain_run("a#chunk-0", alone).stage is Stage.DUPLICATE


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2), st.integers(0, 20)), max_size=12),
    st.integers(1, 4),
    st.integers(1, 2),
    st.integers(5, 200),
)
def test_R58_R57_every_candidate_of_every_run_has_its_stage(
    found: list[tuple[str, int, int]], return_n: int, cap: int, budget: int
) -> None:
    """Blocks, pack and drops decide; result and record agree; asking twice changes nothing."""
    hits = tuple(hit(doc, index, n / 20, content="word " * n) for doc, index, n in found)
    limits = SelectionLimits(return_n=return_n, max_chunks_per_document=cap, floor=0.3)
    answer, run = looked_up(hits, limits=limits, budget=budget)
    omitted = {one.evidence_key for one in answer.context_pack.summary.omitted}
    for key in {one.evidence_key for one in run.candidates}:
        told, again = explain_run(key, run), explain_run(key, recorded(answer))
        reasons = {one.reason for one in run.drops(key)} - {DropReason.DUPLICATE}
        if key in run.blocks:
            assert told.stage is (Stage.BUDGET if key in omitted else Stage.RETURNED)
        else:
            assert told.stage.value in reasons
            assert told.stage.value == max(reasons, key=list(DropReason).index).value
        assert again.stage is told.stage
        assert (again.final_rank, again.similarity) == (told.final_rank, told.similarity)
        assert told == explain_run(key, run)


# What a deeper search and the catalogue add.

ENTRY = CatalogueEntry(
    "x",
    "x.md",
    "/kb",
    "Secret title",
    category="network",
    scope={"tenant": "acme"},
    content_hash="h",
    chunk_count=3,
)


def absent(
    absence: Absence,
    *,
    key: str = "x#chunk-0",
    scope: tuple[str, ...] = (),
    reason: FallbackReason | None = None,
    **settings: object,
) -> Explanation:
    """*key*, which the attempt did not list, with what *absence* tells."""
    _, run = looked_up(**settings)  # type: ignore[arg-type]
    run = evolve(run, scope=scope, trace=evolve(run.trace, fallback_reason=reason))
    return explain_absence(explain_run(key, run), run, absence)


def standing(rank: int | None, **more: object) -> Standing:
    """A dense standing at *rank* of 80."""
    score = Score(0.31, ScoreSemantics.COSINE) if rank else None
    similarity = 0.31 if rank else None
    values = {"mode": SearchMode.DENSE, "depth": 80, "count": 80, **more}
    return Standing(rank=rank, score=score, similarity=similarity, **values)  # type: ignore[arg-type]


def test_R58_a_chunk_beyond_retrieve_k_is_told_with_its_true_rank_and_score() -> None:
    """Rank, score, whether the floor would be passed, and what rag.retrieve-k is."""
    told = absent(Absence(ENTRY, main=standing(37)))
    assert (told.stage, told.rank, told.setting) == (Stage.NOT_RETRIEVED, 37, "rag.retrieve-k")
    assert told.score == Score(0.31, ScoreSemantics.COSINE)
    assert told.message.startswith("Rank 37 of the dense list, and 7 hits are asked for")
    assert "would pass the evidence floor 0.200" in told.message
    low = evolve(standing(37), similarity=0.15)
    assert "still be below" in absent(Absence(ENTRY, main=low)).message
    assert outcomes(told)[:3] == [StepOutcome.PASSED, StepOutcome.PASSED, StepOutcome.LOST]


def test_R58_a_fused_rank_is_told_with_its_depth_and_both_lists() -> None:
    """Fused ranks move with the depth of the lists, so dense and keyword ranks stand beside."""
    keyword = standing(None, mode=SearchMode.KEYWORD, count=4)
    told = absent(
        Absence(
            ENTRY,
            main=standing(30, mode=SearchMode.HYBRID),
            others=(standing(41), keyword),
        ),
        mode=SearchMode.HYBRID,
    )
    assert "asked for 80 hits. Dense rank: 41. Keyword: no hit" in told.message
    nearer = absent(
        Absence(ENTRY, main=standing(5, mode=SearchMode.HYBRID)), mode=SearchMode.HYBRID
    )
    assert "though a search of 80 has it at rank 5" in nearer.message


def test_R58_a_chunk_beyond_the_deepest_search_is_beyond_that_rank() -> None:
    """No rank is invented; a search that failed says why it went no deeper."""
    deepest = standing(None, depth=1_000, count=1_000)
    told = absent(Absence(ENTRY, main=deepest))
    assert (told.stage, told.rank) == (Stage.NOT_RETRIEVED, None)
    assert "Beyond rank 1000 of the dense list" in told.message
    foreign = absent(Absence(main=deepest))
    assert foreign.stage is Stage.NOT_RETRIEVED
    assert "The catalogue does not know its document." in foreign.message
    failed = absent(Absence(main=evolve(deepest, error=TraceError("timeout", "too late"))))
    assert failed.stage is Stage.NOT_RETRIEVED
    assert "timeout: too late" in failed.message


def test_R58_the_hints_filter_and_the_category_are_named() -> None:
    """A chunk of another category was filtered; without the filter it has a rank."""
    told = absent(Absence(ENTRY, main=standing(3)), hint_filter="databases")
    assert (told.stage, told.rank) == (Stage.FILTERED, 3)
    assert "'databases'" in told.message
    assert "'network'" in told.message
    unknown = standing(3, category="network")
    assert absent(Absence(main=unknown), hint_filter="databases").stage is Stage.FILTERED
    both = absent(
        Absence(ENTRY, main=standing(3)), hint_filter="databases", reason=FallbackReason.LOW_QUALITY
    )
    assert "nothing of that was accepted" in both.message
    same = absent(Absence(ENTRY, main=standing(9, hint_filter="network")), hint_filter="network")
    assert same.stage is Stage.NOT_RETRIEVED


def test_R58_R26_a_chunk_out_of_scope_is_told_by_the_scopes_names_only() -> None:
    """Neither its document nor the scope's values, its rank or its score are in the explanation."""
    scope = Scope({"tenant": "other", "level": 3})
    assert exclusion(ENTRY, scope) == ("level", "tenant")
    assert exclusion(ENTRY, Scope({"tenant": ("acme", "b")})) == ()
    told = absent(Absence(excluded_by=("level", "tenant")), scope=("level", "tenant"))
    assert (told.stage, told.excluded_by) == (Stage.FILTERED, ("level", "tenant"))
    assert (told.rank, told.score, told.similarity, told.standings) == (None, None, None, ())
    assert "Secret" not in str(told)
    assert "acme" not in str(told)


def test_R58_what_is_not_indexed_is_told_by_the_catalogue_and_the_index() -> None:
    """An unknown document, one whose chunks end before, and one that the index has lost."""
    nowhere = standing(None, count=45)
    unknown = absent(Absence(main=nowhere, meant=(ENTRY,)))
    assert unknown.stage is Stage.NOT_INDEXED
    assert "Was a chunk of x meant?" in unknown.message
    beyond = absent(Absence(ENTRY, beyond_document=True), key="x#chunk-3")
    assert beyond.stage is Stage.NOT_INDEXED
    assert "x#chunk-0 to x#chunk-2 only" in beyond.message
    lost = absent(Absence(ENTRY, main=nowhere))
    assert lost.stage is Stage.NOT_INDEXED
    assert "--rebuild" in lost.message
    own_id = absent(Absence(is_of_document=False, main=nowhere), key="vector:7")
    assert own_id.message == "The index has no such chunk."
    unread = absent(Absence(main=nowhere, error=TraceError("storage", "unreadable")))
    assert unread.message == "The index has no such chunk."
    scoped = absent(Absence(main=nowhere), scope=("tenant",))
    assert "in the scope (tenant)" in scoped.message


def test_R58_a_keyword_list_that_lacks_the_chunk_does_not_make_it_unindexed() -> None:
    """Where the words do not match, the dense rank proves that the chunk is there."""
    words = standing(None, mode=SearchMode.KEYWORD, count=4)
    told = absent(Absence(ENTRY, main=words, others=(standing(12),)), mode=SearchMode.KEYWORD)
    assert (told.stage, told.rank, told.setting) == (Stage.NOT_RETRIEVED, None, "rag.mode")
    assert "Dense rank: 12." in told.message


@pytest.mark.parametrize(
    "text", ["", " ", "x", "x#chunk-", "x#chunk-01", "#chunk-1", "vector:", "rank: ", "a\n#chunk-1"]
)
def test_R58_what_is_no_key_is_refused_with_what_one_looks_like(text: str) -> None:
    """A document id alone, a wrong index and a blank are the caller's mistake."""
    with pytest.raises(CallerError, match=r"redis\.md#chunk-3 or vector:ID"):
        check_key(text)
    check_key("vector:1")
    check_key("a#chunk-1#chunk-0")


def test_R58_a_document_id_or_a_source_is_answered_with_its_keys() -> None:
    """By id, by source, or by likeness; a document without chunks is never meant."""
    empty = evolve(ENTRY, doc_id="y", source="x2.md", chunk_count=0)
    other = evolve(ENTRY, doc_id="runbooks/disk-full", source="runbooks/disk-full.md")
    entries = (ENTRY, empty, other)
    assert documents_meant("x", entries) == documents_meant("x.md", entries) == (ENTRY,)
    assert documents_meant("runbooks/diskfull.md", entries) == (other,)
    assert documents_meant("y", entries) == ()
    with pytest.raises(CallerError, match="there are x#chunk-0 to x#chunk-2"):
        check_key("x", (ENTRY,))


def test_a_document_is_meant_among_very_many_in_little_time() -> None:
    """Fifty thousand names that are all much alike: the one with two letters swapped is found."""
    names = [f"runbooks/team-{n % 50}/service-{n}-failover.md" for n in range(50_000)]
    entries = [evolve(ENTRY, doc_id=name, source=name) for name in names]
    began = time.process_time()
    meant = documents_meant("runbooks/team-11/sevrice-31011-failover.md", entries)
    assert time.process_time() - began < 8
    assert "runbooks/team-11/service-31011-failover.md" in [one.doc_id for one in meant]
