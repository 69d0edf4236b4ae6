"""Several questions at once."""

import time

import anyio
import pytest
from attrs import evolve
from tests.unit.application.bench import REDIS, RULES, bench, hit
from tests.unit.application.fakes import NOTHING, Step, found

from evidence_lookup.domain.errors import ScopeError
from evidence_lookup.domain.filters import Scope


async def test_answers_stand_in_the_order_of_the_questions() -> None:
    """Whichever is ready first, the answers come in the questions' order, each with its id."""
    one = bench(Step((hit(),), delay=0.05), found(hit()))
    queries = [f"question {n}" for n in range(20)]
    answers = await one.lookup.lookup_many(queries, session_id="s")
    assert [result.query for result, _ in answers] == queries
    assert len({result.invocation_id for result, _ in answers}) == 20
    assert {record.id for record in one.recorder.records} == {
        result.invocation_id for result, _ in answers
    }
    assert {record.session_id for record in one.recorder.records} == {"s"}


async def test_at_most_eight_run_at_once() -> None:
    """Many questions do not flood the backend."""
    one = bench(Step((hit(),), delay=0.01))
    await one.lookup.lookup_many(["question"] * 30)
    assert one.search.most_running == 8


async def test_no_question_is_no_work() -> None:
    """An empty batch gives an empty list and asks nothing."""
    one = bench()
    assert await one.lookup.lookup_many([]) == []
    assert one.log.lines == []


async def test_one_question_that_fails_leaves_the_others() -> None:
    """A failed search is one answer's error; an empty question is one answer's reason."""
    one = bench(Step(error=ConnectionError("refused")), found(hit()))
    answers = await one.lookup.lookup_many(["a", "", "b"])
    assert [result.evidence_status for result, _ in answers] == [
        "unavailable",
        "no_evidence",
        "found",
    ]
    assert [error is None for _, error in answers] == [False, True, True]


async def test_a_required_scope_value_that_is_missing_fails_closed() -> None:
    """Without the value nothing is searched and nothing recorded, for one and for many."""
    one = bench(found(hit()), rules=evolve(RULES, required_scope=("tenant",)))
    with pytest.raises(ScopeError, match="tenant"):
        await one.lookup.lookup("redis")
    with pytest.raises(ScopeError, match="tenant"):
        await one.lookup.lookup_many(["redis", ""], scope=Scope({"level": 3}))
    assert one.log.lines == []
    (answer,) = await one.lookup.lookup_many(["redis"], scope=Scope({"tenant": "acme"}))
    assert answer[0].found


async def test_C47_concurrent_lookups_overlap_and_the_loop_keeps_ticking() -> None:
    """Twenty lookups on a store and a catalogue of 200 ms take far less than 4 s together."""
    one = bench(Step((hit(),), delay=0.2), entries=(REDIS,))
    one.catalogue.step = Step(delay=0.2)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.sleep(0.01)
            ticks += 1

    began = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        async with anyio.create_task_group() as lookups:
            for _ in range(20):
                lookups.start_soon(one.ask)
        tasks.cancel_scope.cancel()
    took = time.perf_counter() - began
    assert took < 2
    assert ticks > took / 0.01 * 0.2  # a busy machine ticks slower


async def test_concurrent_lookups_probe_once() -> None:
    """The first of many probes the backend; the others wait for its answer."""
    one = bench(found(hit()))
    one.search.probes = [Step(delay=0.02)]
    await one.lookup.lookup_many(["question"] * 8)
    assert one.log.count("probe") == 1


async def test_cancelling_many_ends_all() -> None:
    """A caller that gives up leaves no search running."""
    one = bench(Step(delay=60))
    with anyio.move_on_after(0.05):
        await one.lookup.lookup_many(["question"] * 20)
    assert (one.search.running, one.recorder.records) == (0, [])


async def test_a_shared_use_case_keeps_lookups_apart() -> None:
    """Scopes of concurrent lookups do not mix."""
    one = bench(NOTHING)

    async def ask(tenant: str) -> None:
        await one.ask(f"of {tenant}", tenant=tenant)

    async with anyio.create_task_group() as tasks:
        for tenant in ("a", "b", "c"):
            tasks.start_soon(ask, tenant)
    asked = {request.query: request.scope.values["tenant"] for request in one.search.requests}
    assert asked == {"of a": "a", "of b": "b", "of c": "c"}


async def test_C69_a_query_that_an_expansion_gives_twice_is_no_error() -> None:
    """Each writing of it gets an answer and a record of its own, with the same evidence."""
    one = bench(found(hit()))
    answers = await one.lookup.lookup_many(["Redis is down", "redis is down", "Redis is down"])
    keys = [[block.evidence_key for block in result.evidence_blocks] for result, _ in answers]
    assert keys == [["a#chunk-0"]] * 3
    assert len({record.id for record in one.recorder.records}) == 3
