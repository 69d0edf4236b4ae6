"""A SQLite file for asynchronous callers."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread

from evidence_lookup.adapters.per_loop import PerLoop
from evidence_lookup.adapters.sqlite.channel import Channel

T = TypeVar("T")


class SqliteDatabase:
    """Reads and writes in worker threads, over one connection each: reads never wait for writes.

    Safe with several tasks, event loops and processes. A caller that is cancelled goes on at
    once; work that has begun is then done, or undone, as a whole in the background.
    """

    def __init__(self, path: Path | str, *, busy_timeout_seconds: float = 5.0) -> None:
        """Nothing is opened yet; the file and its folder are made at first use.

        *busy_timeout_seconds* is how long to wait for another process that writes.
        """
        self.path = Path(path).absolute()
        self._reads = Channel(self.path, begin="BEGIN", busy_timeout_seconds=busy_timeout_seconds)
        self._writes = Channel(
            self.path, begin="BEGIN IMMEDIATE", busy_timeout_seconds=busy_timeout_seconds
        )
        # Tasks wait in the event loop, not in the worker threads that all the program shares.
        self._queues = {
            channel: PerLoop(lambda: anyio.CapacityLimiter(1))
            for channel in (self._reads, self._writes)
        }

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What *work* reads, all of one state of the database.

        Raises:
            BackendError: the database cannot be read.
        """
        return await self._run(self._reads, work)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What *work* returns; all that it writes is kept, or nothing if it raises.

        Raises:
            StorageError: the disk is full, or the file cannot be written.
            BackendTimeoutError: another process went on writing.
            BackendError: the database cannot be written.
        """
        return await self._run(self._writes, work)

    async def aclose(self) -> None:
        """Close the file, after the work in hand; may be repeated, and used again after."""
        with anyio.CancelScope(shield=True):
            for channel in (self._reads, self._writes):
                await anyio.to_thread.run_sync(channel.close)

    async def _run(self, channel: Channel, work: Callable[[sqlite3.Connection], T]) -> T:
        return await anyio.to_thread.run_sync(
            channel.run, work, abandon_on_cancel=True, limiter=self._queues[channel]()
        )
