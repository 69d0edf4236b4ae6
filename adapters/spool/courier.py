"""When the records of one event loop are delivered: at once, in batches, or again later."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

import anyio
import anyio.to_thread

from evidence_lookup.adapters.spool.delivery import Delivery, is_the_stores
from evidence_lookup.adapters.spool.faults import mapped
from evidence_lookup.adapters.spool.folder import spool_files
from evidence_lookup.adapters.spool.journal import BATCH, Batch, Journal
from evidence_lookup.adapters.spool.outage import Outage
from evidence_lookup.adapters.spool.segment import Segment, adopt
from evidence_lookup.domain.errors import StorageError

T = TypeVar("T")
_PATIENCE_SECONDS = 1.0


class Courier:
    """Works in rounds: each delivers what waits, or ends at the first failure.

    Between rounds there is no task, only timers, which do not outlive their loop.
    """

    def __init__(
        self,
        journal: Journal,
        delivery: Delivery,
        outage: Outage,
        *,
        linger_seconds: float,
        rescan_seconds: float,
    ) -> None:
        """Records gather for *linger_seconds*; others' files are looked for each
        *rescan_seconds*.
        """
        self._journal = journal
        self._delivery = delivery
        self._outage = outage
        self._linger_seconds = linger_seconds
        self._rescan_seconds = rescan_seconds
        self._loop = asyncio.get_running_loop()
        self._limiter = anyio.CapacityLimiter(1)
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._rescan: asyncio.TimerHandle | None = None
        self._looks_for_left_files = True
        self._is_hurried = False
        self._round_over = asyncio.Event()

    def wake(self) -> None:
        """A record waits: deliver it soon, with those that come until then."""
        if self._rescan is None:
            self._look_again_later()
        if self._task is None and self._timer is None:
            self._start_in(self._linger_seconds)

    def hurry(self) -> None:
        """Begin a round now, whatever is waited for; others' files too."""
        self._outage.hurry()
        self._cancel_timer()
        self._ensure_round()

    async def round_over(self) -> None:
        """Wait for the end of a round; one begins at once unless a failure is waited out."""
        if self._timer is None:
            self._ensure_round()
        await self._round_over.wait()

    async def aclose(self) -> None:
        """End the round and the timers."""
        self._cancel_timer()
        if self._rescan is not None:
            self._rescan.cancel()
            self._rescan = None
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=_PATIENCE_SECONDS)

    @property
    def is_busy(self) -> bool:
        """Whether a round is under way."""
        return self._task is not None

    def _ensure_round(self) -> None:
        self._looks_for_left_files = self._is_hurried = True
        if self._task is None:
            self._start()

    def _start_in(self, seconds: float) -> None:
        if seconds:
            self._timer = self._loop.call_later(seconds, self._start)
        else:
            self._start()

    def _start(self) -> None:
        self._cancel_timer()
        self._round_over = asyncio.Event()
        self._task = asyncio.create_task(self._round())

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_again_later(self) -> None:
        self._rescan = self._loop.call_later(self._rescan_seconds, self._look_again)

    def _look_again(self) -> None:
        self._look_again_later()
        self._looks_for_left_files = True
        if self._task is None and self._timer is None:
            self._start()

    async def _round(self) -> None:
        pause: float | None = None
        try:
            await self._deliver_all()
            if self._journal.undelivered() is not None:
                pause = self._linger_seconds
        except Exception as error:
            pause = self._outage.failed(error, delivered=self._delivery.delivered)
            await self._endure(True)
        finally:
            self._is_hurried = False
            self._task = None
            if pause is not None:
                self._start_in(pause)
            self._round_over.set()

    async def _deliver_all(self) -> None:
        before = self._delivery.delivered
        refusal: Exception | None = None
        looks_for_left_files = self._looks_for_left_files
        if looks_for_left_files:
            refusal = await self._deliver_left_files(takes_others=False)
        await self._deliver_own(takes_others=self._delivery.delivered > before)
        if refusal is not None:
            refusal = await self._deliver_left_files(takes_others=self._delivery.delivered > before)
        if refusal is not None:
            raise refusal
        if looks_for_left_files:
            self._looks_for_left_files = False
        self._outage.over(delivered=self._delivery.delivered)
        await self._endure(False)

    async def _deliver_own(self, *, takes_others: bool) -> None:
        while (segment := self._journal.undelivered()) is not None:
            batch = self._journal.cached(segment)
            if batch is None:
                batch = await self._in_thread(partial(self._journal.read, segment))
            if batch is not None:
                await self._deliver(batch, takes_others=takes_others)
            if self._journal.count < BATCH and not self._is_hurried:
                return  # a few more: let them gather

    async def _deliver_left_files(self, *, takes_others: bool) -> Exception | None:
        """What kept a file from being delivered, other than a store that takes no records."""
        problem: Exception | None = None
        for path in await self._in_thread(lambda: spool_files(self._journal.folder)):
            segment = await self._in_thread(partial(adopt, path))
            if segment is None:
                continue
            try:
                await self._deliver_left_file(segment, takes_others=takes_others)
            except Exception as error:
                if is_the_stores(error):
                    raise
                problem = error
            finally:
                segment.close()  # for other processes, whose store may take it
        return problem

    async def _deliver_left_file(self, segment: Segment, *, takes_others: bool) -> None:
        if not segment.end:
            await self._in_thread(segment.remove)
        while (batch := await self._in_thread(partial(self._journal.read, segment))) is not None:
            await self._deliver(batch, takes_others=takes_others)

    async def _deliver(self, batch: Batch, *, takes_others: bool) -> None:
        await self._delivery.put_aside(batch.unreadable, "no records of this version")
        records = [one.invocation for one in batch.records]
        refused = await self._delivery.hand_over(records, takes_others=takes_others)
        fresh = await self._in_thread(partial(self._journal.done, batch))
        self._delivery.count(batch, delivered=max(fresh - refused, 0))

    async def _endure(self, durable: bool) -> None:
        with suppress(StorageError):  # `record` says so
            await self._in_thread(partial(self._journal.endure, durable))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        with mapped(self._journal.folder):
            return await anyio.to_thread.run_sync(
                work, abandon_on_cancel=True, limiter=self._limiter
            )
