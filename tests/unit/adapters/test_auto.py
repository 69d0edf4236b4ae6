"""Two paths as one: who serves, why, and what a dead first path costs (R29, C42)."""

import asyncio
from collections.abc import Callable

import anyio
import pytest

from evidence_lookup.adapters.auto import AutoKnowledge
from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.memory.knowledge import MemoryKnowledge
from evidence_lookup.domain.errors import (
    BackendFailedError,
    BackendUnavailableError,
    CollectionMissingError,
    EmbedderMismatchError,
    InvalidVectorError,
    ScopeError,
    UnsupportedModeError,
)
from evidence_lookup.domain.path_try import PathTry, TraceError
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
    SearchCapabilities,
)
from evidence_lookup.testing.knowledge_samples import DIMENSION, asked, embedded

MODEL = MemoryEmbedder(dimension=DIMENSION).model
BREAKER_SECONDS = 0.15
FIRST_SECONDS = 0.1


class Path(MemoryKnowledge):
    """A memory that can be made to fail, or to hang, and counts its searches and probes."""

    def __init__(self) -> None:
        super().__init__()
        self.fault: Callable[[], Exception] | None = None
        self.hangs = False
        self.delay = 0.0
        self.searches = self.probes = 0

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """As memory, unless it is ill."""
        self.searches += 1
        await self._be_ill()
        return await super().search(request)

    async def probe(self) -> SearchCapabilities:
        """As memory, unless it is ill."""
        self.probes += 1
        await self._be_ill()
        return await super().probe()

    async def _be_ill(self) -> None:
        await asyncio.sleep(self.delay)
        if self.hangs:
            await asyncio.sleep(60)
        if self.fault is not None:
            raise self.fault()


class Pair:
    """Both paths, filled, and the two as one."""

    def __init__(self, first_seconds: float = FIRST_SECONDS) -> None:
        self.first, self.second = Path(), Path()
        self.auto = AutoKnowledge(
            self.first,
            self.second,
            names=("first", "second"),
            embedder=MemoryEmbedder(dimension=DIMENSION),
            first_seconds=first_seconds,
            breaker_seconds=BREAKER_SECONDS,
        )

    async def search(self) -> list[PathTry]:
        """The tries of one search, which must have the second path's or the first's hit."""
        response = await self.auto.search(asked())
        assert [hit.id for hit in response.hits] == ["a#chunk-0"]
        return list(response.tries)


@pytest.fixture
async def pair() -> Pair:
    """Two healthy paths with one chunk each."""
    return await filled(Pair())


async def filled(made: Pair) -> Pair:
    """*made*, with one chunk on each path."""
    for path in (made.first, made.second):
        await path.prepare(model=MODEL, dimension=DIMENSION)
        await path.upsert([embedded("a")])
    return made


def kinds(tries: list[PathTry]) -> list[tuple[str, str | None]]:
    """Each path with the kind of its error."""
    return [(one.path, one.error.kind if one.error else None) for one in tries]


async def test_R29_the_first_path_serves_while_it_can(pair: Pair) -> None:
    """A healthy first path serves, and the second one is not asked."""
    assert kinds(await pair.search()) == [("first", None)]
    assert pair.second.searches == 0


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (lambda: BackendUnavailableError("down"), "connection"),
        (lambda: BackendFailedError("no"), "failed"),
        (lambda: CollectionMissingError("gone"), "collection_missing"),
        (lambda: UnsupportedModeError("no"), "unsupported_mode"),
        (lambda: ScopeError("no filter"), "scope"),
        (lambda: RuntimeError("a driver's own"), "failed"),
    ],
)
async def test_R29_C68_the_second_path_serves_and_the_trace_says_why(
    pair: Pair, fault: Callable[[], Exception], kind: str
) -> None:
    """Whatever the first path fails of, the second one serves, with the reason of the first."""
    pair.first.fault = fault
    assert kinds(await pair.search()) == [("first", kind), ("second", None)]


async def test_an_empty_answer_is_an_answer(pair: Pair) -> None:
    """Nothing found on the first path is never asked of the second."""
    await pair.first.delete_documents(["a"])
    response = await pair.auto.search(asked())
    assert (response.hits, pair.second.searches) == ((), 0)


async def test_a_frozen_first_path_ends_in_its_time(pair: Pair) -> None:
    """A first path that hangs costs its time once; the trace says timeout."""
    pair.first.hangs = True
    assert kinds(await pair.search()) == [("first", "timeout"), ("second", None)]


async def test_the_callers_deadline_covers_both_tries() -> None:
    """A first path that hangs leaves half of the caller's time to the second."""
    pair = await filled(Pair(first_seconds=30))
    pair.first.hangs = True
    with anyio.fail_after(2):
        assert kinds(await pair.search()) == [("first", "timeout"), ("second", None)]


async def test_a_caller_in_a_hurry_does_not_shut_out_a_healthy_path() -> None:
    """A first path that had too little time is tried beside others, and serves again at once."""
    pair = await filled(Pair(first_seconds=30))
    pair.first.delay = 1.0
    with anyio.fail_after(1.5):
        assert kinds(await pair.search()) == [("first", "timeout"), ("second", None)]
    (tried, served) = await pair.search()
    assert (tried.breaker, served.path) == ("half_open", "second")
    await asyncio.sleep(1.5)
    assert kinds(await pair.search()) == [("first", None)]


async def test_a_caller_that_gives_up_opens_the_breaker_for_a_frozen_path(pair: Pair) -> None:
    """Callers with deadlines of their own pay for a frozen first path once."""
    pair.first.hangs = True
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(pair.search(), 0.02)
    assert kinds(await pair.search())[1] == ("second", None)
    await asyncio.sleep(FIRST_SECONDS + 0.02)
    assert (await pair.search())[0].breaker == "open"
    assert pair.first.searches == 1


async def test_the_breaker_spares_later_searches(pair: Pair) -> None:
    """After one failure the first path is left alone, and each trace says that and why."""
    pair.first.fault = lambda: BackendUnavailableError("down")
    await pair.search()
    for _ in range(5):
        (tried, _served) = await pair.search()
        assert tried == PathTry("first", TraceError("connection", "down"), breaker="open")
    assert pair.first.searches == 1


async def test_a_burst_on_a_frozen_path_pays_once(pair: Pair) -> None:
    """Of 200 searches, 16 at a time, only those in flight at the first failure wait for it."""
    pair.first.hangs = True
    limiter = anyio.CapacityLimiter(16)

    async def one() -> None:
        async with limiter:
            await pair.search()

    async with anyio.create_task_group() as tasks:
        for _ in range(200):
            tasks.start_soon(one)
    assert pair.first.searches == 16
    assert pair.second.searches == 200


async def test_a_trial_runs_beside_and_closes_the_breaker(pair: Pair) -> None:
    """A half-open breaker lets the second path serve at once, and closes if the trial is good."""
    pair.first.fault = lambda: BackendUnavailableError("down")
    await pair.search()
    pair.first.fault = None
    await asyncio.sleep(BREAKER_SECONDS + 0.05)
    (tried, served) = await pair.search()
    assert (tried.breaker, served.path) == ("half_open", "second")
    await asyncio.sleep(0.02)
    assert kinds(await pair.search()) == [("first", None)]


async def test_a_failed_trial_opens_it_again(pair: Pair) -> None:
    """One trial at a time; where it fails the breaker waits again."""
    pair.first.fault = lambda: BackendUnavailableError("down")
    await pair.search()
    await asyncio.sleep(BREAKER_SECONDS + 0.05)
    await asyncio.gather(*(pair.search() for _ in range(10)))
    await asyncio.sleep(0.02)
    assert (pair.first.searches, pair.first.probes) == (1, 1)
    assert (await pair.search())[0].breaker == "open"


async def test_a_refused_request_is_no_sign_of_illness(pair: Pair) -> None:
    """A scope that the first path cannot filter leaves the breaker closed for other requests."""
    pair.first.fault = lambda: ScopeError("no filter")
    await pair.search()
    pair.first.fault = None
    assert kinds(await pair.search()) == [("first", None)]


async def test_both_paths_fail(pair: Pair) -> None:
    """Where both fail the second's error comes out, with both reasons."""
    pair.first.fault = lambda: BackendUnavailableError("down")
    pair.second.fault = lambda: CollectionMissingError("gone")
    with pytest.raises(CollectionMissingError) as caught:
        await pair.auto.search(asked())
    expected = [("first", "connection"), ("second", "collection_missing")]
    assert kinds(list(caught.value.tries)) == expected
    with pytest.raises(CollectionMissingError) as caught:
        await pair.auto.probe()
    assert kinds(list(caught.value.tries)) == expected


async def test_C26_a_bad_vector_is_the_callers(pair: Pair) -> None:
    """A vector without direction is refused at once and harms no path."""
    with pytest.raises(InvalidVectorError):
        await pair.auto.search(asked(vector=embedded("z").vector * 0))
    assert kinds(await pair.search()) == [("first", None)]


async def test_probe_of_two_healthy_paths(pair: Pair) -> None:
    """The probe answers for both paths, with the narrower bounds, and names them."""
    found = await pair.auto.probe()
    assert (found.dimension, found.embedder) == (DIMENSION, MODEL)
    assert kinds(list(found.tries)) == [("first", None), ("second", None)]


async def test_C42_a_first_path_of_another_dimension(pair: Pair) -> None:
    """A first path whose index does not fit the embedder is never asked; the trace says why."""
    await pair.first.drop()
    await pair.first.prepare(model=MODEL, dimension=3)
    found = await pair.auto.probe()
    assert found.dimension == DIMENSION
    assert kinds(list(found.tries)) == [("first", "dimension_mismatch"), ("second", None)]
    assert kinds(await pair.search()) == [("first", "dimension_mismatch"), ("second", None)]
    assert pair.first.searches == 0


async def test_C42_without_a_probe_too(pair: Pair) -> None:
    """A first path of another dimension that was not probed falls back for that reason."""
    await pair.first.drop()
    await pair.first.prepare(model=MODEL, dimension=3)
    assert kinds(await pair.search()) == [("first", "dimension_mismatch"), ("second", None)]


async def test_a_first_path_of_another_model(pair: Pair) -> None:
    """Vectors of another model would find nonsense: that path is left alone."""
    await pair.first.drop()
    await pair.first.prepare(model="other@1", dimension=DIMENSION)
    await pair.auto.probe()
    assert kinds(await pair.search()) == [("first", "embedder_mismatch"), ("second", None)]


async def test_a_second_path_of_another_model(pair: Pair) -> None:
    """A second path that does not fit the embedder is no way out: its own error comes instead."""
    await pair.second.drop()
    await pair.second.prepare(model="other@1", dimension=DIMENSION)
    await pair.auto.probe()
    assert kinds(await pair.search()) == [("first", None)]
    pair.first.fault = lambda: BackendUnavailableError("down")
    with pytest.raises(EmbedderMismatchError):
        await pair.auto.search(asked())


async def test_a_second_path_that_was_down_at_the_start(pair: Pair) -> None:
    """Whether a second path fits is asked before it first serves, and again once it failed."""
    await pair.second.drop()
    await pair.second.prepare(model="other@1", dimension=DIMENSION)
    pair.second.fault = lambda: BackendUnavailableError("down")
    await pair.auto.probe()
    pair.second.fault = None
    pair.first.fault = lambda: BackendUnavailableError("down")
    with pytest.raises(EmbedderMismatchError):
        await pair.auto.search(asked())
    await pair.second.drop()
    await pair.second.prepare(model=MODEL, dimension=DIMENSION)
    await pair.second.upsert([embedded("a")])
    assert (await pair.search())[1] == PathTry("second")


async def test_a_failed_start_up_probe(pair: Pair) -> None:
    """A first path that is down at the start is not tried by the first search."""
    pair.first.fault = lambda: BackendUnavailableError("down")
    assert kinds(list((await pair.auto.probe()).tries))[0] == ("first", "connection")
    assert (await pair.search())[0].breaker == "open"
    assert pair.first.searches == 0


async def test_the_first_path_alone_is_enough(pair: Pair) -> None:
    """A second path that is down is told by the probe, and needed by no search."""
    pair.second.fault = lambda: BackendUnavailableError("down")
    assert kinds(list((await pair.auto.probe()).tries)) == [
        ("first", None),
        ("second", "connection"),
    ]
    assert kinds(await pair.search()) == [("first", None)]


async def test_closing_ends_a_trial(pair: Pair) -> None:
    """A trial that hangs is ended by closing, and another one may begin after it."""
    pair.first.fault = lambda: BackendUnavailableError("down")
    await pair.search()
    pair.first.hangs = True
    await asyncio.sleep(BREAKER_SECONDS + 0.05)
    await pair.search()
    await pair.auto.aclose()
    await pair.auto.aclose()
    pair.first.hangs, pair.first.fault = False, None
    await pair.search()
    await asyncio.sleep(0.02)
    assert kinds(await pair.search()) == [("first", None)]


async def test_a_cancelled_search_shuts_nothing_out(pair: Pair) -> None:
    """A caller that goes away says nothing about a healthy first path: a trial clears it."""
    pair.first.delay = 0.01
    task = asyncio.create_task(pair.auto.search(asked()))
    await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.05)
    assert kinds(await pair.search()) == [("first", None)]


def test_a_trial_that_its_loop_took_along_is_begun_anew() -> None:
    """A breaker that a dead event loop left on trial closes in the next one."""
    made = Pair()

    async def fail() -> None:
        for path in (made.first, made.second):
            await path.prepare(model=MODEL, dimension=DIMENSION)
            await path.upsert([embedded("a")])
        made.first.fault = lambda: BackendUnavailableError("down")
        await made.search()
        made.first.fault, made.first.hangs = None, True
        await asyncio.sleep(BREAKER_SECONDS + 0.05)
        await made.search()

    async def serve() -> None:
        made.first.hangs = False
        await asyncio.sleep(FIRST_SECONDS)
        await made.search()
        await asyncio.sleep(0.02)
        assert kinds(await made.search()) == [("first", None)]

    asyncio.run(fail())
    asyncio.run(serve())
