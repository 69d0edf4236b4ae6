"""The sidecar: a second path that reports, and that no answer ever depends on."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any, cast

import anyio
import anyio.to_thread
import pytest
from attrs import evolve, frozen
from tests.unit.application.bench import REDIS, RULES, Bench, bench, hit
from tests.unit.application.fakes import (
    CAPABILITIES,
    HANG,
    NOTHING,
    ScriptedSearch,
    Step,
    TickingClock,
    found,
)

from evidence_lookup.application.retrieval_path import OpenSearch, RetrievalPath
from evidence_lookup.application.sidecar import Sidecar
from evidence_lookup.domain.comparison import Comparison
from evidence_lookup.domain.errors import MissingExtraError, SettingsError
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.domain.sidecar import SidecarReport
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchPort,
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
    SearchCapabilities,
)

SECONDS = 0.1
"""Of a sidecar that is to run out of time."""


@frozen
class Beside:
    """A bench with a sidecar."""

    bench: Bench
    sidecar: Sidecar

    async def ask(self, query: str = "redis", **scope: str) -> LookupResult:
        """The answer, before its record."""
        result, _ = await self.bench.lookup.lookup(query, scope=Scope(scope))
        return result

    async def report(self) -> SidecarReport:
        """What the newest record says of the sidecar, when all are written."""
        await self.sidecar.settled()
        report = self.bench.record.retrieval_details.retrieval_trace.sidecar
        assert report is not None
        return report

    async def comparison(self) -> Comparison:
        """The newest record's comparison."""
        report = await self.report()
        assert report.status == "ok", report
        assert report.comparison is not None
        return report.comparison


def opening(search: KnowledgeSearchPort) -> OpenSearch:
    """A port that is open already."""
    return lambda: nullcontext(search)


def beside(
    one: Bench,
    open_search: OpenSearch,
    *,
    seconds: float = 30.0,
    record_timeout_seconds: float = 30.0,
) -> Beside:
    """*one* with a sidecar on the port that *open_search* gives."""
    sidecar = Sidecar(
        RetrievalPath("second", open_search, one.embedder),
        one.recording,
        TickingClock(),
        seconds=seconds,
        record_timeout_seconds=record_timeout_seconds,
    )
    return Beside(evolve(one, lookup=evolve(one.lookup, sidecar=sidecar)), sidecar)


def without_ids_and_times(result: LookupResult) -> str:
    """The part that must not differ, byte for byte."""
    trace = evolve(result.retrieval_trace, timings={})
    return repr(evolve(result, invocation_id="", retrieval_trace=trace))


async def test_R50_without_a_sidecar_the_record_says_disabled() -> None:
    """Off by default: the record is there when the answer is, and names no path."""
    one = bench(found(hit()))
    await one.ask()
    assert one.record.retrieval_details.retrieval_trace.sidecar == SidecarReport()


async def test_R52_the_record_holds_the_comparison_of_both_paths() -> None:
    """Ranks, scores under their own labels, overlap, displacement and what one alone found."""
    second = ScriptedSearch(
        found(
            evolve(hit("b"), score=Score(0.2, ScoreSemantics.L2_SQUARED)),
            evolve(hit("a"), score=Score(0.3, ScoreSemantics.L2_SQUARED)),
            evolve(hit("z"), score=Score(0.4, ScoreSemantics.L2_SQUARED)),
        )
    )
    one = beside(bench(found(hit("a", cosine=0.9), hit("b", cosine=0.8))), opening(second))
    await one.ask()
    comparison = await one.comparison()
    rows = {row.doc_id: row for row in comparison.rows}
    assert list(rows) == ["a", "b", "z"]
    assert rows["a"].main is not None
    assert rows["a"].other is not None
    assert rows["a"].main.score == Score(0.9, ScoreSemantics.COSINE)
    assert rows["a"].other.score == Score(0.3, ScoreSemantics.L2_SQUARED)
    assert (rows["a"].displacement, rows["b"].displacement) == (1, -1)
    assert comparison.overlap_at_k == 2 / 3
    assert (comparison.only_main, comparison.only_other) == ((), ("z#chunk-0",))
    assert comparison.k == RULES.retrieve_k
    report = await one.report()
    assert (report.path, report.error) == ("second", None)
    assert report.seconds > 0


async def test_R51_the_sidecar_gets_the_request_of_the_selected_attempt() -> None:
    """Same text, vector, filters, mode and size; the query is embedded once."""
    second = ScriptedSearch(found(hit()))
    weak_then_good = (found(hit("w", cosine=0.3)), found(hit("g", cosine=0.9)))
    acme = evolve(REDIS, scope={"tenant": "acme"})
    one = beside(bench(*weak_then_good, entries=(acme,)), opening(second))
    await one.ask("redis", tenant="acme")
    await one.sidecar.settled()
    (request,) = second.requests
    narrow, wide = one.bench.search.requests
    assert (narrow.hint_filter is None, wide.hint_filter) == (False, None)
    assert request == wide
    assert request.vector is wide.vector
    assert request.scope == Scope({"tenant": "acme"})
    assert one.bench.embedder.queries == ["redis"]
    filtered = beside(bench(found(hit()), entries=(REDIS,)), opening(second))
    await filtered.ask("redis")
    await filtered.sidecar.settled()
    assert second.requests[-1].hint_filter is not None


async def test_the_sidecars_own_limits_bound_its_request_and_the_comparison() -> None:
    """A backend that takes fewer results and shorter texts is asked for those, and k is theirs."""
    second = ScriptedSearch(found(hit("a")))
    second.capabilities = evolve(CAPABILITIES, max_top_k=3, max_query_characters=11)
    one = beside(bench(found(*(hit(f"{n}") for n in range(9)))), opening(second))
    await one.ask("redis words that are too many")
    assert (await one.comparison()).k == 3
    assert (second.requests[0].top_k, second.requests[0].query) == (3, "redis words")


async def test_R51_the_sidecar_starts_when_the_answer_is_there() -> None:
    """Nothing of it has run when the lookup returns, and the record comes when it is through."""
    second = ScriptedSearch(Step((hit(),), delay=0.02))
    opened: list[int] = []

    def open_search() -> AbstractAsyncContextManager[KnowledgeSearchPort]:
        opened.append(1)
        return nullcontext(second)

    one = beside(bench(found(hit())), open_search)
    result = await one.ask()
    assert opened == []
    assert one.bench.recorder.records == []
    assert result.retrieval_trace.sidecar is None
    await one.comparison()
    assert one.bench.record.id == result.invocation_id
    assert len(one.bench.recorder.records) == 1


class OddError(BaseException):
    """Neither an `Exception` nor one that can be printed."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class UnspeakableError(Exception):
    """One that cannot be printed."""

    def __str__(self) -> str:
        raise OddError


class Raising:
    """Raises when it is asked; the probe too if it is told so."""

    def __init__(self, error: BaseException, *, at_probe: bool = False) -> None:
        self._error = error
        self._at_probe = at_probe

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """No."""
        raise self._error

    async def probe(self) -> SearchCapabilities:
        """The fakes' capabilities, or no."""
        if self._at_probe:
            raise self._error
        return CAPABILITIES


ODD = (
    ConnectionError("refused"),
    KeyError("vector"),
    UnspeakableError(),
    OddError(),
    SystemExit(3),
    GeneratorExit(),
    StopAsyncIteration(),
    asyncio.CancelledError("of the port's own"),
    BaseExceptionGroup("many", [OddError(), ValueError("x")]),
    RecursionError("deep"),
    MemoryError(),
)


@pytest.mark.parametrize("error", ODD, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("at_probe", [False, True])
async def test_R51_whatever_the_sidecar_raises_stays_its_own(
    error: BaseException, at_probe: bool
) -> None:
    """The answer is the same as without it; status `failed` and a kind stand in the record."""
    alone = await bench(found(hit())).ask("redis")
    one = beside(bench(found(hit())), opening(Raising(error, at_probe=at_probe)))
    result = await one.ask()
    assert without_ids_and_times(result) == without_ids_and_times(alone)
    report = await one.report()
    assert (report.status, report.comparison) == ("failed", None)
    assert report.error is not None
    assert report.error.kind == ("connection" if isinstance(error, ConnectionError) else "failed")
    await one.sidecar.aclose()


class Garbage:
    """Answers with what it was given, whatever that is."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """Not a response."""
        return cast("KnowledgeSearchResponse", self._answer)

    async def probe(self) -> SearchCapabilities:
        """The fakes' capabilities."""
        return CAPABILITIES


def response(*hits: object, **fields: Any) -> KnowledgeSearchResponse:
    """A response that holds anything."""
    values: dict[str, Any] = {"hits": hits, "mode": SearchMode.DENSE, "path": "second", **fields}
    return KnowledgeSearchResponse(**values)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        "hits",
        response(None),
        response(hits=None),
        response(path=None),
        response(path=b"second"),
        response(mode="telepathy"),
        response(degraded=[3]),
        response(evolve(hit(), score=cast("Score", 0.5))),
        response(evolve(hit("z"), content=cast("str", None))),
        response(evolve(hit(), metadata=cast("dict[str, Any]", None))),
    ],
)
async def test_R51_garbage_is_a_failure_of_the_sidecar(answer: object) -> None:
    """An answer that is none never reaches the record, which is written all the same."""
    one = beside(bench(found(hit())), opening(Garbage(answer)))
    assert (await one.ask()).found
    report = await one.report()
    assert (report.status, report.error and report.error.kind) == ("failed", "failed")


async def test_more_hits_than_were_asked_for_are_cut() -> None:
    """A port that answers without end costs neither time nor room."""
    many = response(*(hit(f"{n}") for n in range(5_000)))
    one = beside(bench(found(hit())), opening(Garbage(many)))
    await one.ask()
    assert (await one.comparison()).other.count == RULES.retrieve_k


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (SettingsError(["sidecar.path is wrong"]), "settings"),
        (MissingExtraError("elasticsearch", "the sidecar"), "missing_extra"),
        (ConnectionError("refused"), "connection"),
        (ImportError("no module"), "failed"),
        (SystemExit(1), "failed"),
    ],
)
async def test_R51_a_sidecar_that_cannot_be_opened_is_failed_with_its_kind(
    error: BaseException, kind: str
) -> None:
    """Bad settings, a missing extra, a backend that is down: the main path goes on."""

    def open_search() -> AbstractAsyncContextManager[KnowledgeSearchPort]:
        raise error

    one = beside(bench(found(hit())), open_search)
    assert (await one.ask()).found
    report = await one.report()
    assert (report.status, report.error and report.error.kind) == ("failed", kind)


async def test_C42_the_index_of_another_embedder_is_failed() -> None:
    """The sidecar's index is checked against the embedder as the main path's is."""
    second = ScriptedSearch(found(hit()))
    second.capabilities = evolve(CAPABILITIES, embedder="another@2")
    one = beside(bench(found(hit())), opening(second))
    await one.ask()
    report = await one.report()
    assert (report.status, report.error and report.error.kind) == ("failed", "embedder_mismatch")
    assert second.requests == []


async def test_a_sidecar_that_comes_up_later_is_used_then() -> None:
    """Opening and probing are tried again at the next lookup."""
    second = ScriptedSearch(found(hit()))
    second.probes = [Step(error=ConnectionError("still starting")), NOTHING]
    attempts: list[int] = []

    @asynccontextmanager
    async def open_search() -> AsyncGenerator[KnowledgeSearchPort]:
        attempts.append(1)
        if len(attempts) == 1:
            raise ConnectionError("down")
        yield second

    one = beside(bench(found(hit())), open_search)
    statuses: list[str] = []
    for _ in range(4):
        await one.ask()
        statuses.append((await one.report()).status)
    assert statuses == ["failed", "failed", "ok", "ok"]
    assert len(attempts) == 2


def in_search() -> OpenSearch:
    """The search never answers."""
    return opening(ScriptedSearch(HANG))


def in_probe() -> OpenSearch:
    """The probe never answers."""
    search = ScriptedSearch(found(hit()))
    search.probes = [HANG]
    return opening(search)


def in_open() -> OpenSearch:
    """The port never opens."""

    @asynccontextmanager
    async def open_search() -> AsyncGenerator[KnowledgeSearchPort]:
        await anyio.sleep_forever()
        yield ScriptedSearch()

    return open_search


def in_thread() -> OpenSearch:
    """The search sits in a thread, which cannot be cancelled, for longer than its time."""

    class Threaded(ScriptedSearch):
        async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
            await anyio.to_thread.run_sync(time.sleep, 1.5)
            return await super().search(request)

    return opening(Threaded())


def told_so() -> OpenSearch:
    """The driver itself says that it took too long."""
    return opening(Raising(TimeoutError("10 s")))


@pytest.mark.parametrize("make", [in_search, in_probe, in_open, in_thread, told_so])
async def test_R51_a_sidecar_that_hangs_is_a_timeout_of_its_own(
    make: Callable[[], OpenSearch],
) -> None:
    """The answer does not wait at all, and the record waits for the sidecar's seconds only."""
    one = beside(bench(found(hit())), make(), seconds=SECONDS)
    assert (await one.ask()).found
    assert one.bench.recorder.records == []
    began = anyio.current_time()
    report = await one.report()
    assert anyio.current_time() - began < 1.2
    assert (report.status, report.error and report.error.kind) == ("timeout", "timeout")
    await one.sidecar.aclose()


async def test_R51_the_answer_is_there_before_a_sidecar_that_blocks_the_loop() -> None:
    """Even an adapter that breaks the port's promise, and holds up the loop, starts too late."""
    blocked: list[bool] = []

    class Blocking(ScriptedSearch):
        async def probe(self) -> SearchCapabilities:
            time.sleep(0.3)  # noqa: ASYNC251
            blocked.append(True)
            return await super().probe()

    one = beside(bench(found(hit())), opening(Blocking(found(hit()))))
    assert (await one.ask()).found
    assert blocked == []
    assert (await one.report()).status == "ok"


@pytest.mark.parametrize("query", ["", "\u200b \n"])
async def test_a_lookup_that_searched_nothing_runs_no_sidecar(query: str) -> None:
    """There is nothing to compare: recorded at once as `disabled`, with the path's name."""
    second = ScriptedSearch(found(hit()))
    one = beside(bench(found(hit())), opening(second))
    await one.ask(query)
    assert len(one.bench.recorder.records) == 1
    report = await one.report()
    assert report == SidecarReport(path="second")
    assert second.requests == []


@pytest.mark.parametrize("probe_fails", [False, True])
async def test_a_main_path_that_failed_runs_no_sidecar(probe_fails: bool) -> None:
    """Without an answer of its own there is nothing to compare; the record tells of the failure."""
    down = Step(error=ConnectionError("refused"))
    main = bench(down)
    if probe_fails:
        main.search.probes = [down]
    second = ScriptedSearch(found(hit()))
    one = beside(main, opening(second))
    assert (await one.ask()).evidence_status == "unavailable"
    assert await one.report() == SidecarReport(path="second")
    assert second.requests == []


async def test_a_main_path_that_found_nothing_is_compared() -> None:
    """Nothing found is an answer, and what the other path found instead is worth knowing."""
    one = beside(bench(NOTHING), opening(ScriptedSearch(found(hit("z")))))
    assert (await one.ask()).evidence_status == "no_evidence"
    comparison = await one.comparison()
    assert (comparison.overlap_at_k, comparison.only_other) == (0.0, ("z#chunk-0",))


async def test_at_most_64_run_at_once_and_the_rest_is_recorded_at_once() -> None:
    """Beyond the bound a lookup is recorded as `failed` for ``overloaded``; none is lost."""
    gate = anyio.Event()

    class Gated(ScriptedSearch):
        async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
            self.most_running += 1
            await gate.wait()
            return response(hit())

    second = Gated()
    one = beside(bench(found(hit())), opening(second))
    for _ in range(70):
        await one.ask()
    overloaded = [record.retrieval_details for record in one.bench.recorder.records]
    assert len(overloaded) == 6
    for details in overloaded:
        report = details.retrieval_trace.sidecar
        assert report is not None
        assert (report.status, report.error and report.error.kind) == ("failed", "overloaded")
    gate.set()
    await one.sidecar.settled()
    assert second.most_running == 64
    assert len({record.id for record in one.bench.recorder.records}) == 70
    await one.ask()
    assert (await one.report()).status == "ok"


async def test_R57_with_a_sidecar_the_result_is_the_same_byte_for_byte() -> None:
    """On or off, answering or failing: ids and times apart nothing of the result differs."""
    hits = [hit(f"d{n}", cosine=0.7) for n in range(10)]
    main = found(*hits), found(*hits)
    written = {without_ids_and_times(await bench(*main, entries=(REDIS,)).ask("redis"))}
    for step in (found(*reversed(hits)), NOTHING, HANG, Step(error=ConnectionError("x"))):
        second = opening(ScriptedSearch(step))
        one = beside(bench(*main, entries=(REDIS,)), second, seconds=SECONDS)
        for _ in range(2):
            written.add(without_ids_and_times(await one.ask("redis")))
        await one.sidecar.aclose()
    assert len(written) == 1


async def test_R51_lookups_are_as_fast_beside_a_slow_sidecar() -> None:
    """50 lookups are answered before the first sidecar's seconds are over."""
    slow = beside(bench(found(hit())), opening(ScriptedSearch(HANG)), seconds=2.0)
    for _ in range(50):
        await slow.ask()
    assert slow.bench.recorder.records == []
    await slow.sidecar.aclose()
    assert len(slow.bench.recorder.records) == 50


async def test_cancelling_a_lookup_cancels_no_record() -> None:
    """A caller that gives up after its answer takes nothing from the records."""
    one = beside(bench(found(hit())), opening(ScriptedSearch(Step((hit(),), delay=0.03))))
    answered = anyio.Event()

    async def host() -> None:
        await one.ask()
        answered.set()
        await anyio.sleep_forever()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(host)
        await answered.wait()
        tasks.cancel_scope.cancel()
    assert (await one.report()).status == "ok"


async def test_closing_waits_for_the_records_and_closes_the_port() -> None:
    """What runs is recorded first, then the port is closed; closing again does nothing."""
    closed: list[int] = []
    second = ScriptedSearch(Step((hit(),), delay=0.03))

    @asynccontextmanager
    async def open_search() -> AsyncGenerator[KnowledgeSearchPort]:
        yield second
        closed.append(len(one.bench.recorder.records))

    one = beside(bench(found(hit())), open_search)
    await one.ask()
    await one.ask()
    await one.sidecar.aclose()
    await one.sidecar.aclose()
    assert closed == [2]
    assert (await one.report()).status == "ok"


async def test_closing_ends_although_nothing_can_be_cancelled(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A search that refuses to end, and a port that fails to close, hold up no shutdown."""

    class Stubborn(ScriptedSearch):
        async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
            ends = anyio.current_time() + 3.0
            while anyio.current_time() < ends:
                try:
                    await asyncio.sleep(3.0)
                except asyncio.CancelledError:
                    continue
            return await super().search(request)

    @asynccontextmanager
    async def open_search() -> AsyncGenerator[KnowledgeSearchPort]:
        yield Stubborn()
        raise ConnectionError("lost while closing")

    one = beside(bench(found(hit())), open_search, seconds=SECONDS)
    await one.ask()
    with anyio.fail_after(2.5):
        await one.sidecar.aclose()
    assert (await one.report()).status == "timeout"
    assert "the sidecar second did not close" in caplog.text


async def test_R49_a_trace_store_that_hangs_harms_no_lookup_beside_a_sidecar() -> None:
    """The lost record is counted as without a sidecar."""
    second = opening(ScriptedSearch(found(hit())))
    one = beside(bench(found(hit())), second, record_timeout_seconds=SECONDS)
    one.bench.recorder.step = HANG
    assert (await one.ask()).found
    await one.sidecar.settled()
    await one.bench.recording.aclose(timeout_seconds=0.05)
    assert (one.bench.recording.lost, one.bench.recorder.records) == (1, [])


async def test_R49_a_loop_that_ends_while_a_sidecar_runs_counts_its_record() -> None:
    """A host that does not close the knowledge base loses the record, and is told."""
    one = beside(bench(found(hit())), opening(ScriptedSearch(HANG)))

    async def host() -> None:
        await one.ask()
        await asyncio.sleep(0)

    await anyio.to_thread.run_sync(asyncio.run, host())
    assert (one.bench.recording.lost, one.bench.recorder.records) == (1, [])


_port: KnowledgeSearchPort = Raising(ValueError())
_garbage: KnowledgeSearchPort = Garbage(None)
