"""A second path beside the lookups, which changes no answer and holds none up (R50 to R52)."""

import asyncio
import logging
import math
from collections.abc import Coroutine
from typing import Any, TypeVar

import anyio

from evidence_lookup.application.guard import guarded
from evidence_lookup.application.recording import Recording
from evidence_lookup.application.retrieval import Outcome
from evidence_lookup.application.retrieval_path import RetrievalPath, fitted
from evidence_lookup.application.stopwatch import Stopwatch
from evidence_lookup.domain.comparison import ComparedPath, Comparison, compare
from evidence_lookup.domain.errors import EvidenceLookupError, trace_error
from evidence_lookup.domain.path_try import TraceError
from evidence_lookup.domain.record import ToolInvocation, with_sidecar
from evidence_lookup.domain.sidecar import SidecarReport, SidecarStatus
from evidence_lookup.ports.clock import Clock
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest, SearchCapabilities

_log = logging.getLogger(__name__)
T = TypeVar("T")

_MOST_AT_ONCE = 64
_GRACE_SECONDS = 1.0
OVERLOADED = "overloaded"


class Sidecar:
    """Runs the request of an answered lookup down *path* too, and writes the lookup's record.

    It starts when the lookup has its answer, in a task of its own, and ends after *seconds*,
    opening and probing the path included. At most 64 run at once; a lookup beyond them is recorded
    with the status `failed` and the error ``overloaded``. Used in one event loop.
    """

    def __init__(
        self,
        path: RetrievalPath,
        recording: Recording,
        clock: Clock,
        *,
        seconds: float,
        record_timeout_seconds: float,
    ) -> None:
        self._path = path
        self._recording = recording
        self._clock = clock
        self._seconds = seconds
        self._record_timeout_seconds = record_timeout_seconds
        self._records: set[asyncio.Task[None]] = set()
        # Those that ran out of time and cannot be cancelled, as a thread, are among them.
        self._searches: set[asyncio.Task[Comparison | TraceError]] = set()

    async def record(self, invocation: ToolInvocation, selected: Outcome | None) -> None:
        """Record *invocation*, later, with what the second path found for the *selected* attempt.

        Where that attempt is None or failed, or too many are under way, it is recorded at once.
        Never raises.
        """
        if selected is None or selected.request is None or selected.found is None:
            report = SidecarReport(SidecarStatus.DISABLED, self._path.name)
            await self._write(invocation, report)
        elif max(len(self._searches), len(self._records)) >= _MOST_AT_ONCE:
            error = TraceError(OVERLOADED, f"{_MOST_AT_ONCE} lookups still wait for the sidecar")
            await self._write(
                invocation, SidecarReport(SidecarStatus.FAILED, self._path.name, error)
            )
        else:
            search = _start(self._search(selected.request, selected.found), self._searches)
            _start(self._record_later(invocation, search), self._records)

    async def probe(self) -> SearchCapabilities:
        """What its path can do.

        Raises:
            EvidenceLookupError: the path cannot be opened, or does not fit the embedder.
        """
        return await self._path.capabilities()

    async def settled(self) -> None:
        """Wait until every record that is under way is written, or given up."""
        if self._records:
            most = self._seconds + self._record_timeout_seconds + _GRACE_SECONDS
            await asyncio.wait([*self._records], timeout=most)

    async def aclose(self) -> None:
        """Wait for the records under way, give up what is left, and close the path; never raises.

        Takes at most the sidecar's seconds, the record's, and 3 more.
        """
        await self.settled()
        left = [*self._records, *self._searches]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=_GRACE_SECONDS)
        try:
            with guarded(deadline=anyio.current_time() + _GRACE_SECONDS):
                await self._path.aclose()
        except EvidenceLookupError as error:
            _log.warning("the sidecar %s did not close: %s", self._path.name, error)

    async def _record_later(
        self, invocation: ToolInvocation, search: "asyncio.Task[Comparison | TraceError]"
    ) -> None:
        stopwatch = Stopwatch(self._clock)
        try:
            # Not awaited itself, since a port may refuse to be cancelled.
            await asyncio.wait([search], timeout=self._seconds)
            report = self._report(search, stopwatch.total())
            await self._write(invocation, report)
        except asyncio.CancelledError:
            self._recording.lose(invocation, "cancelled while its sidecar ran")
            raise

    def _report(
        self, search: "asyncio.Task[Comparison | TraceError]", seconds: float
    ) -> SidecarReport:
        if not search.done():
            search.cancel()
            error = TraceError(
                "timeout", f"no answer within sidecar.deadline-seconds ({self._seconds:g} s)"
            )
            return SidecarReport(SidecarStatus.TIMEOUT, self._path.name, error, seconds=seconds)
        found = search.result()
        if isinstance(found, Comparison):
            return SidecarReport(
                SidecarStatus.OK, self._path.name, comparison=found, seconds=seconds
            )
        timed_out = found.kind == "timeout"
        status = SidecarStatus.TIMEOUT if timed_out else SidecarStatus.FAILED
        return SidecarReport(status, self._path.name, found, seconds=seconds)

    async def _search(
        self, request: KnowledgeSearchRequest, main: ComparedPath
    ) -> Comparison | TraceError:
        await asyncio.sleep(0)  # the answer goes first, in loops that start tasks eagerly too
        try:
            with guarded(deadline=math.inf):
                request = fitted(request, await self._path.capabilities())
                return compare(main, await self._path.search(request), k=request.top_k)
        except EvidenceLookupError as error:
            return trace_error(error)
        except KeyboardInterrupt:
            raise  # the user's, who wants the host to end
        except BaseException as error:
            # A port may raise SystemExit, or an error that cannot even be printed.
            return TraceError("failed", f"the sidecar raised {type(error).__name__}")

    async def _write(self, invocation: ToolInvocation, report: SidecarReport) -> None:
        await self._recording.record(
            with_sidecar(invocation, report), timeout_seconds=self._record_timeout_seconds
        )


def _start(run: Coroutine[Any, Any, T], kept: "set[asyncio.Task[T]]") -> "asyncio.Task[T]":
    task = asyncio.create_task(run)
    kept.add(task)
    task.add_done_callback(kept.discard)
    return task
