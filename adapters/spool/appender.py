"""Appends of the tasks of one event loop, one write for all that wait at a time."""

import asyncio
from collections import deque
from collections.abc import Callable

import anyio
import anyio.to_thread

from evidence_lookup.adapters.spool.journal import Entry, Journal
from evidence_lookup.domain.errors import StorageError

_QUEUED_BYTES = 16_000_000


class Appender:
    """Hands entries to the journal in a worker thread; while it writes, others gather."""

    def __init__(self, journal: Journal, wake: Callable[[], None]) -> None:
        """*wake* is called after each write."""
        self._journal = journal
        self._wake = wake
        self._queue: deque[tuple[Entry, asyncio.Future[None]]] = deque()
        self._queued_bytes = 0
        self._limiter = anyio.CapacityLimiter(1)
        self._task: asyncio.Task[None] | None = None

    async def append(self, entry: Entry) -> None:
        """Return when *entry* is in the file; it may still get there if the caller is cancelled.

        Raises:
            StorageError: it cannot be written.
        """
        if self._queued_bytes + entry.size > _QUEUED_BYTES and self._queue:
            raise StorageError(
                f"the disk of the spool in {self._journal.folder} does not keep up: see data-dir"
            )
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append((entry, written))
        self._queued_bytes += entry.size
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write())
        await written
        if entry.error is not None:
            raise entry.error

    async def flushed(self) -> None:
        """Wait until nothing is queued."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def _write(self) -> None:
        taken: list[tuple[Entry, asyncio.Future[None]]] = []
        try:
            while self._queue:
                taken = [*self._queue]
                self._queue.clear()
                # A caller cannot wait for the disk for ever: this task does, in its place.
                await anyio.to_thread.run_sync(
                    self._journal.append,
                    [entry for entry, _ in taken],
                    abandon_on_cancel=True,
                    limiter=self._limiter,
                )
                self._queued_bytes -= sum(entry.size for entry, _ in taken)
                for _, written in taken:
                    if not written.done():
                        written.set_result(None)
                self._wake()
        finally:
            # Cancelled, as at the end of the loop: nobody else would write them.
            for _, written in [*taken, *self._queue]:
                if not written.done():
                    written.cancel()
