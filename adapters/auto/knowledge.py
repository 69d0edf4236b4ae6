"""The first path while it serves, the second one behind it."""

import asyncio
import math
from collections.abc import Generator
from contextlib import contextmanager

import anyio
from attrs import evolve

from evidence_lookup.adapters.auto.breaker import Breaker, BreakerState
from evidence_lookup.domain.errors import (
    BackendFailedError,
    BackendTimeoutError,
    EvidenceLookupError,
    InvalidVectorError,
    ScopeError,
    UnsupportedModeError,
    trace_error,
)
from evidence_lookup.domain.index_fit import check_fit
from evidence_lookup.domain.path_try import PathTry, TraceError
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchPort,
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
    SearchCapabilities,
)

# Of one request, and no sign that the path is ill.
_REQUEST_FAULTS = (ScopeError, UnsupportedModeError)


class AutoKnowledge:
    """Two paths as one `KnowledgeSearchPort`.

    Every search goes down the first path, and down the second if the first one fails; an empty
    answer is an answer. Scores are those of the path that served. A try of the first path ends
    after *first_seconds*, or half of the time that the caller has left if that is less.

    A first path that failed is left alone for *breaker_seconds*, then tried beside a search that
    the second path serves, so that no search waits for it. One that did not answer in less than
    *first_seconds*, as a caller in a hurry leaves it, is tried in this way at once. A trial ends
    with its event loop. Neither path serves while its index does not fit *embedder*.
    """

    def __init__(
        self,
        first: KnowledgeSearchPort,
        second: KnowledgeSearchPort,
        *,
        names: tuple[str, str],
        embedder: Embedder,
        first_seconds: float,
        breaker_seconds: float,
    ) -> None:
        """*names* are the paths' short names, as their responses give them."""
        self._first, self._second = first, second
        self._first_name, self._second_name = names
        self._embedder = embedder
        self._first_seconds = first_seconds
        self._breaker = Breaker(seconds=breaker_seconds, trial_seconds=first_seconds)
        self._second_fits = False
        self._trials: set[asyncio.Task[None]] = set()

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """As `KnowledgeSearchPort.search`; `tries` names the paths that were gone down.

        Raises:
            InvalidVectorError: the vector is zero, NaN or infinite, which no path can mend.
            EvidenceLookupError: the second path's, where that failed too; its `tries` has both.
        """
        tried = self._left_alone()
        if tried is None:
            try:
                response = await self._search_first(request)
            except InvalidVectorError:
                raise
            except EvidenceLookupError as error:
                tried = self._first_try(trace_error(error), BreakerState.CLOSED)
            else:
                return evolve(response, tries=(self._first_try(None, BreakerState.CLOSED),))
        try:
            response = await self._search_second(request)
        except EvidenceLookupError as error:
            error.tries = (tried, PathTry(self._second_name, trace_error(error)))
            raise
        return evolve(response, tries=(tried, PathTry(self._second_name)))

    async def probe(self) -> SearchCapabilities:
        """As `KnowledgeSearchPort.probe`: what both paths can do, or the one that answers.

        Both are asked at once. `tries` has the two, each with the reason why it cannot serve.

        Raises:
            EvidenceLookupError: the second path's, where the first failed too; its `tries` has
                both.
        """
        first, second = await asyncio.gather(
            self._ask(self._first, self._first_name, self._seconds()),
            self._ask(self._second, self._second_name, math.inf),
        )
        self._second_fits = isinstance(second, SearchCapabilities)
        self._settle(first)
        tries = (
            self._first_try(_told(first), self._breaker.state),
            PathTry(self._second_name, _told(second)),
        )
        if isinstance(first, EvidenceLookupError):
            if isinstance(second, EvidenceLookupError):
                second.tries = tries
                raise second
            return evolve(second, tries=tries)
        if isinstance(second, EvidenceLookupError):
            return evolve(first, tries=tries)
        return evolve(
            first,
            max_top_k=min(first.max_top_k, second.max_top_k),
            max_query_characters=min(first.max_query_characters, second.max_query_characters),
            tries=tries,
        )

    async def aclose(self) -> None:
        """End the trials of the running loop; the paths are closed by whoever opened them."""
        loop = asyncio.get_running_loop()
        trials = [trial for trial in self._trials if trial.get_loop() is loop]
        for trial in trials:
            trial.cancel()
        await asyncio.gather(*trials, return_exceptions=True)

    async def _search_first(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        seconds = self._seconds()
        in_a_hurry = TraceError(
            BackendTimeoutError.kind, f"no answer in less than its {self._first_seconds:g} s"
        )
        try:
            with _in_time(self._first_name, seconds):
                response = await self._first.search(request)
        except (InvalidVectorError, *_REQUEST_FAULTS):
            raise
        except BackendTimeoutError as error:
            if seconds < self._first_seconds:
                self._doubt(in_a_hurry)
            else:
                self._breaker.failed(trace_error(error))
            raise
        except EvidenceLookupError as error:
            self._breaker.failed(trace_error(error))
            raise
        except asyncio.CancelledError:
            self._doubt(in_a_hurry)
            raise
        self._breaker.succeeded()
        return response

    async def _search_second(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        if not self._second_fits:
            found = await self._ask(self._second, self._second_name, math.inf)
            if isinstance(found, EvidenceLookupError):
                raise found
            self._second_fits = True
        try:
            return await self._second.search(request)
        except EvidenceLookupError:
            self._second_fits = False
            raise

    def _left_alone(self) -> PathTry | None:
        """What the trace says where the first path is not tried now; a due trial begins."""
        failure = self._breaker.failure
        if failure is None:
            return None
        state = self._breaker.state
        if self._breaker.begin_trial():
            self._start_trial()
        return self._first_try(failure, state)

    def _doubt(self, told: TraceError) -> None:
        if self._breaker.doubt(told):
            self._start_trial()

    def _start_trial(self) -> None:
        trial = asyncio.create_task(self._try_first())
        self._trials.add(trial)
        trial.add_done_callback(self._trials.discard)

    async def _try_first(self) -> None:
        try:
            self._settle(await self._ask(self._first, self._first_name, self._first_seconds))
        except asyncio.CancelledError:
            self._breaker.end_trial()
            raise

    def _settle(self, asked: SearchCapabilities | EvidenceLookupError) -> None:
        told = _told(asked)
        if told is None:
            self._breaker.succeeded()
        else:
            self._breaker.failed(told)

    def _first_try(self, told: TraceError | None, state: BreakerState) -> PathTry:
        return PathTry(self._first_name, told, breaker=state)

    async def _ask(
        self, path: KnowledgeSearchPort, name: str, seconds: float
    ) -> SearchCapabilities | EvidenceLookupError:
        """What *path* can do, or why it cannot serve."""
        try:
            with _in_time(name, seconds):
                found = await path.probe()
                check_fit(
                    stored_model=found.embedder,
                    stored_dimension=found.dimension,
                    model=self._embedder.model,
                    dimension=self._embedder.dimension,
                )
        except EvidenceLookupError as error:
            return error
        return found

    def _seconds(self) -> float:
        """How long the first path may take: the second one must find time too."""
        left = anyio.current_effective_deadline() - anyio.current_time()
        return min(self._first_seconds, left / 2)


def _told(asked: SearchCapabilities | EvidenceLookupError) -> TraceError | None:
    return trace_error(asked) if isinstance(asked, EvidenceLookupError) else None


@contextmanager
def _in_time(name: str, seconds: float) -> Generator[None]:
    try:
        with anyio.fail_after(seconds):
            yield
    except EvidenceLookupError:
        raise
    except TimeoutError as error:
        raise BackendTimeoutError(
            f"the path {name} gave no answer within {seconds:.3g} s "
            "(vector-store.timeout-seconds, or half of what rag.deadline-seconds leaves)"
        ) from error
    except Exception as error:
        raise BackendFailedError(f"{type(error).__name__}: {error}") from error
