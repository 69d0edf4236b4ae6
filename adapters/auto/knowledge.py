"""The first path while it serves, the second one behind it."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

import anyio
from attrs import evolve

from evidence_lookup.adapters.auto.breaker import Breaker, BreakerState
from evidence_lookup.domain.errors import (
    BackendFailedError,
    BackendTimeoutError,
    CallerError,
    EvidenceLookupError,
    InvalidVectorError,
    ScopeError,
    UnsupportedModeError,
    trace_error,
)
from evidence_lookup.domain.index_fit import check_fit
from evidence_lookup.domain.path_try import PathTry
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchPort,
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
    SearchCapabilities,
)

T = TypeVar("T")

# Of one request, and no sign that the path is ill.
_REQUEST_FAULTS = (ScopeError, UnsupportedModeError)


class AutoKnowledge:
    """Two paths as one `KnowledgeSearchPort`.

    Every search goes down the first path, and down the second if the first one fails; an empty
    answer is an answer. A first path that failed is left alone for *breaker_seconds*, then tried
    beside a search that the second path serves, so that no search waits for it; the trial also
    checks that its index was made by *embedder*. A try of the first path ends after
    *first_seconds*, or half of the time that the caller has left if that is less.
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
        self._breaker = Breaker(seconds=breaker_seconds)
        self._second_misfit: CallerError | None = None
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
                response = await self._in_time(self._first.search(request), self._seconds())
            except InvalidVectorError:
                raise
            except EvidenceLookupError as error:
                if not isinstance(error, _REQUEST_FAULTS):
                    self._breaker.failed(error)
                tried = self._first_try(error, BreakerState.CLOSED)
            else:
                self._breaker.succeeded()
                return evolve(response, tries=(self._first_try(None, BreakerState.CLOSED),))
        try:
            if self._second_misfit is not None:
                raise self._second_misfit
            response = await self._second.search(request)
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
        asked = self._in_time(self._ask(self._first), self._seconds())
        first, second = await asyncio.gather(_outcome(asked), _outcome(self._ask(self._second)))
        self._second_misfit = second if isinstance(second, CallerError) else None
        failure = first if isinstance(first, EvidenceLookupError) else None
        self._settle(failure)
        behind = trace_error(second) if isinstance(second, EvidenceLookupError) else None
        tries = (
            self._first_try(failure, self._breaker.state),
            PathTry(self._second_name, behind),
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

    def _left_alone(self) -> PathTry | None:
        """What the trace says where the first path is not tried now; a due trial begins."""
        failure = self._breaker.last_failure
        if failure is None:
            return None
        state = self._breaker.state
        if self._breaker.begin_trial():
            trial = asyncio.create_task(self._try_first())
            self._trials.add(trial)
            trial.add_done_callback(self._trials.discard)
        return self._first_try(failure, state)

    def _first_try(self, error: EvidenceLookupError | None, state: BreakerState) -> PathTry:
        return PathTry(self._first_name, trace_error(error) if error else None, breaker=state)

    async def _try_first(self) -> None:
        try:
            outcome = await _outcome(self._in_time(self._ask(self._first), self._first_seconds))
        except asyncio.CancelledError:
            self._breaker.end_trial()
            raise
        self._settle(outcome if isinstance(outcome, EvidenceLookupError) else None)

    def _settle(self, failure: EvidenceLookupError | None) -> None:
        if failure is None:
            self._breaker.succeeded()
        else:
            self._breaker.failed(failure)

    async def _ask(self, path: KnowledgeSearchPort) -> SearchCapabilities:
        found = await path.probe()
        check_fit(
            stored_model=found.embedder,
            stored_dimension=found.dimension,
            model=self._embedder.model,
            dimension=self._embedder.dimension,
        )
        return found

    def _seconds(self) -> float:
        """How long the first path may take: the second one must find time too."""
        left = anyio.current_effective_deadline() - anyio.current_time()
        return min(self._first_seconds, left / 2)

    async def _in_time(self, call: Awaitable[T], seconds: float) -> T:
        try:
            with anyio.fail_after(seconds):
                return await call
        except EvidenceLookupError:
            raise
        except TimeoutError as error:
            raise BackendTimeoutError(
                f"the path {self._first_name} gave no answer within {seconds:.3g} s "
                "(vector-store.timeout-seconds, or half of what rag.deadline-seconds leaves)"
            ) from error
        except Exception as error:
            raise BackendFailedError(f"{type(error).__name__}: {error}") from error


async def _outcome(call: Awaitable[T]) -> T | EvidenceLookupError:
    try:
        return await call
    except EvidenceLookupError as error:
        return error
