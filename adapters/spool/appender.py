"""Appends of the tasks of one event loop, one write for all that wait at a time."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from attrs import frozen

from evidence_lookup.adapters.spool.journal import Entry, Journal
from evidence_lookup.domain.errors import StorageError

_log = logging.getLogger(__name__)
_QUEUED_BYTES = 16_000_000
# No answer waits for the disk itself, and few lookups are answered beside it.
_FLUSH_SECONDS = 0.1


@frozen(eq=False)
class _Queued:
    entry: Entry
    written: "asyncio.Future[None]"


class Appender:
    """Hands entries to the journal in a thread; while that writes, others gather.

    The thread is its own: borrowing one takes several times as long as the write itself.
    """

    def __init__(self, journal: Journal, wake: Callable[[], None]) -> None:
        """*wake* is called after each write."""
        self._journal = journal
        self._wake = wake
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="evidence-lookup-spool")
        self._queue: list[_Queued] = []
        self._queued_bytes = 0
        self._is_writing = False
        self._through = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    async def append(self, entry: Entry) -> None:
        """Return when *entry* is in the file; it may still get there if the caller is cancelled.

        Raises:
            StorageError: it cannot be written.
        """
        if self._queue and self._queued_bytes + entry.size > _QUEUED_BYTES:
            raise StorageError(
                f"the disk of the spool in {self._journal.folder} does not keep up: see data-dir"
            )
        queued = _Queued(entry, self._loop.create_future())
        self._queue.append(queued)
        self._queued_bytes += entry.size
        if not self._is_writing:
            self._through.clear()
            self._begin()
        await queued.written
        if entry.error is not None:
            raise entry.error

    async def flushed(self) -> None:
        """Wait until nothing is queued."""
        if self._is_writing:
            await self._through.wait()

    def close(self) -> None:
        """Let the thread end, after the write in hand."""
        if self._timer is not None:
            self._timer.cancel()
            self._begin_flush()
        self._thread.shutdown(wait=False)

    def _begin(self) -> None:
        self._is_writing = True
        taken, self._queue = self._queue, []
        self._thread.submit(self._write, taken)

    def _write(self, taken: Sequence[_Queued]) -> None:
        self._journal.append([one.entry for one in taken])
        with suppress(RuntimeError):  # the loop has ended; what is written stays
            self._loop.call_soon_threadsafe(self._written, taken)

    def _written(self, taken: Sequence[_Queued]) -> None:
        for one in taken:
            self._queued_bytes -= one.entry.size
            if not one.written.done():
                one.written.set_result(None)
        self._wake()
        if self._queue:
            self._begin()
        else:
            self._is_writing = False
            self._through.set()
        if self._journal.is_durable and self._timer is None:
            self._timer = self._loop.call_later(_FLUSH_SECONDS, self._begin_flush)

    def _begin_flush(self) -> None:
        self._timer = None
        self._thread.submit(self._flush)

    def _flush(self) -> None:
        try:
            self._journal.flush()
        except StorageError as error:
            _log.warning("the spool may not survive a power cut: %s", error)
