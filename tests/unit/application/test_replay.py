"""Recorded lookups run again on fakes: what is asked, what is compared, what is left out."""

import json

import pytest
from attrs import evolve
from tests.unit.application.bench import REDIS, RULES, Bench, bench, hit
from tests.unit.application.fakes import CAPABILITIES, NOTHING, Step, found

from evidence_lookup.adapters.json_values import from_json, to_json
from evidence_lookup.adapters.memory.traces import MemoryTraces
from evidence_lookup.application.replay import Replay
from evidence_lookup.application.replay_report import (
    FallbackChange,
    ReplayProgress,
    ReplayReport,
    StatusChange,
)
from evidence_lookup.domain.errors import BackendUnavailableError, EmbedderMismatchError
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.trace_filter import TraceFilter

A_B = found(hit("a"), hit("b"))
DOWN = Step(error=ConnectionError("refused"))
QUERIES = ("redis fails over", "数据库连接池耗尽", " ", "disk full")


async def replay_of(one: Bench, now: Bench | None = None) -> Replay:
    """The records of *one*, to be run by *now*, or by *one* itself."""
    traces = MemoryTraces()
    await traces.record(one.recorder.records)
    return Replay(traces, (now or one).lookup)


async def asked(one: Bench, *queries: str, mode: SearchMode | None = None) -> Bench:
    """*one* after it was asked *queries*."""
    for query in queries:
        await one.lookup.lookup(query, mode=mode, session_id="s")
    return one


async def test_R57_a_replay_right_after_the_lookups_changes_nothing() -> None:
    """The same settings and index give the same keys, statuses and fallbacks, and no record."""
    one = await asked(bench(A_B, entries=(REDIS,)), *QUERIES)
    report = await (await replay_of(one)).replay()
    assert [lookup.query for lookup in report.lookups] == list(QUERIES)
    assert (report.totals.read, report.totals.replayed, report.totals.compared) == (4, 4, 4)
    assert (report.totals.changed, report.totals.changed_share) == (0, 0.0)
    assert not report.totals.exceeds(0.0)
    assert len(one.recorder.records) == 4


async def test_each_lookup_is_run_in_its_own_mode_unless_one_is_given() -> None:
    """The mode asked for then is asked for now, whatever the settings say."""
    one = await asked(bench(A_B), "x", mode=SearchMode.KEYWORD)
    replay = await replay_of(one)
    for mode, expected in ((None, SearchMode.KEYWORD), (SearchMode.DENSE, SearchMode.DENSE)):
        (lookup,) = (await replay.replay(mode=mode)).lookups
        assert one.search.requests[-1].mode is expected
        assert lookup.mode is expected


async def test_what_was_searched_in_the_usual_mode_is_run_in_the_usual_mode_of_now() -> None:
    """Other settings with another `rag.mode` are tried as they are; a mode of one's own stays."""
    then = await asked(bench(A_B), "a", "b", mode=SearchMode.HYBRID)
    await asked(then, "c", mode=SearchMode.KEYWORD)
    now = bench(A_B, rules=evolve(RULES, mode=SearchMode.DENSE))
    replay = evolve(await replay_of(then, now), usual_mode=SearchMode.HYBRID)
    modes = [one.mode for one in (await replay.replay()).lookups]
    assert modes == [SearchMode.DENSE, SearchMode.DENSE, SearchMode.KEYWORD]


async def test_changes_are_counted_over_all_lookups() -> None:
    """Keys, statuses and fallbacks query by query, and in the totals."""
    then = await asked(bench(A_B, NOTHING, found(hit("c")), entries=(REDIS,)), "x", "redis", "y")
    opening = NOTHING
    now = bench(opening, found(hit("b"), hit("n")), A_B, NOTHING, entries=(REDIS,))
    seen: list[ReplayProgress] = []
    report = await (await replay_of(then, now)).replay(on_progress=seen.append)
    totals = report.totals
    first, _, third = report.lookups
    assert [(one.evidence_key, one.rank) for one in first.appeared] == [("n#chunk-0", 2)]
    assert [(one.evidence_key, one.rank) for one in first.vanished] == [("a#chunk-0", 1)]
    assert [(one.rank_before, one.rank_after) for one in first.moved] == [(2, 1)]
    assert third.status_after == "no_evidence"
    assert (totals.compared, totals.changed, totals.changed_share) == (3, 3, 1.0)
    assert totals.keys_appeared == 3
    assert StatusChange(third.status_before, third.status_after, 1) in totals.status_changes
    assert [type(one) for one in totals.fallback_changes] == [FallbackChange]
    assert totals.fallback_changes[0].after is None
    assert seen[-1] == ReplayProgress(3, 3, 3)
    assert from_json(ReplayReport, json.loads(json.dumps(to_json(report)))) == report


async def test_times_are_compared_by_stage_and_are_no_change() -> None:
    """Median and 95th percentile then and now, over the lookups that were answered twice."""
    one = await asked(bench(A_B), "x", "y")
    latency = (await (await replay_of(one)).replay()).totals.latency
    assert list(latency)[-1] == "total"
    assert latency["embed"].before.count == latency["embed"].after.count == 2
    assert 0.0 < latency["total"].after.p50 <= latency["total"].after.p95


async def test_a_lookup_that_fails_now_counts_as_changed_one_that_failed_then_does_not() -> None:
    """Evidence that is out of reach is lost for the reader; an old outage is no yardstick."""
    then = await asked(bench(DOWN, A_B), "x", "y")
    now = bench(A_B, A_B, DOWN)
    totals = (await (await replay_of(then, now)).replay()).totals
    assert {str(key): count for key, count in totals.outcomes.items()} == {
        "failed": 1,
        "recovered": 1,
    }
    assert (totals.compared, totals.changed, totals.errors) == (1, 1, {"connection": 1})
    assert totals.keys_vanished == 0


async def test_a_backend_that_is_gone_for_good_ends_the_replay() -> None:
    """Nine lookups without an answer are told one by one; after ten in a row it is one error."""
    then = await asked(bench(A_B), *map(str, range(11)))
    back = bench(A_B, *[DOWN] * 9, A_B, DOWN)
    totals = (await (await replay_of(then, back)).replay()).totals
    assert totals.errors == {"connection": 10}
    gone = bench(A_B, A_B, DOWN)
    with pytest.raises(BackendUnavailableError):
        await (await replay_of(then, gone)).replay()


async def test_nothing_to_compare_exceeds_every_share() -> None:
    """A gate must not pass because there was nothing to look at."""
    totals = (await (await replay_of(bench())).replay()).totals
    assert (totals.read, totals.changed_share) == (0, None)
    assert totals.exceeds(1.0)


async def test_a_scope_is_given_anew_and_what_it_does_not_fit_is_skipped() -> None:
    """A record holds names only: it runs within the given values, or not at all."""
    one = bench(A_B)
    await one.ask("narrowed", tenant="acme")
    await one.ask("open")
    replay = await replay_of(one)
    plain = await replay.replay()
    assert [lookup.query for lookup in plain.lookups] == ["open"]
    assert dict(plain.totals.skipped) == {"scope_needed": 1}
    scoped = await replay.replay(scope=Scope({"tenant": "acme"}))
    assert [lookup.query for lookup in scoped.lookups] == ["narrowed"]
    assert dict(scoped.totals.skipped) == {"scope_not_recorded": 1}
    assert one.search.requests[-1].scope == Scope({"tenant": "acme"})


async def test_settings_that_require_a_scope_skip_what_has_none() -> None:
    """A lookup that the settings would refuse is left out, not searched without a scope."""
    then = await asked(bench(A_B), "open")
    now = bench(A_B, rules=evolve(RULES, required_scope=("tenant",)))
    report = await (await replay_of(then, now)).replay()
    assert dict(report.totals.skipped) == {"scope_needed": 1}
    assert now.search.requests == []


async def test_a_query_that_was_cut_or_redacted_is_skipped() -> None:
    """What was asked is not known; what stands in the record is another query."""
    then = await asked(bench(A_B), "word " * 1_000)
    hidden = await asked(bench(A_B, redact=lambda query: "***"), "secret")
    then.recorder.records.append(evolve(hidden.record, id="other"))
    report = await (await replay_of(then)).replay()
    assert dict(report.totals.skipped) == {"redacted": 1, "query_cut": 1}
    assert report.lookups == ()


async def test_distinct_runs_the_newest_record_of_each_query_and_mode() -> None:
    """The same words in another mode are another lookup."""
    one = await asked(bench(A_B), "x", "x", "y")
    await asked(one, "x", mode=SearchMode.DENSE)
    report = await (await replay_of(one)).replay(distinct=True)
    newest = [one.recorder.records[position].id for position in (1, 2, 3)]
    assert [lookup.id for lookup in report.lookups] == newest
    assert dict(report.totals.skipped) == {"repeated": 1}


async def test_filter_and_limit_choose_the_newest_and_say_when_there_may_be_more() -> None:
    """Records are taken from the newest on, and run from the oldest on."""
    one = await asked(bench(A_B), "x", "y", "z")
    replay = await replay_of(one)
    report = await replay.replay(limit=2, where=TraceFilter(session_id="s"))
    assert [lookup.query for lookup in report.lookups] == ["y", "z"]
    assert report.limit_reached
    assert (await replay.replay(where=TraceFilter(session_id="other"))).lookups == ()


async def test_an_index_that_cannot_be_asked_ends_the_replay_before_the_first_lookup() -> None:
    """Down, or made by another embedder: one error, and not one for each of a thousand records."""
    then = await asked(bench(A_B), *QUERIES)
    down, foreign = bench(A_B), bench(A_B)
    down.search.probes = [DOWN]
    foreign.search.capabilities = evolve(CAPABILITIES, embedder="other@1")
    with pytest.raises(BackendUnavailableError):
        await (await replay_of(then, down)).replay()
    with pytest.raises(EmbedderMismatchError):
        await (await replay_of(then, foreign)).replay()
    assert (down.search.requests, foreign.search.requests) == ([], [])
