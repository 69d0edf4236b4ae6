"""The connections of one event loop."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio

from evidence_lookup.adapters.postgres.connection import Connection

_LONGEST_IDLE_SECONDS = 300.0


class Pool:
    """At most so many connections, opened when needed, each for one task at a time.

    psycopg_pool opens connections in tasks of its own: what is wrong shows in its log only while
    the caller waits out its time, and a program that ends while the server is frozen does not end,
    as these tasks withstand their cancellation.
    """

    def __init__(self, connect: Callable[[], Awaitable[Connection]], *, size: int) -> None:
        """Nothing is opened yet; *connect* gives a new connection."""
        self._connect = connect
        self._turns = anyio.Semaphore(size, fast_acquire=True)
        self._idle: list[tuple[Connection, float]] = []
        self._is_closed = False

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection, None]:
        """A connection; one that is then in mid-transaction or broken is not used again.

        Raises:
            Exception: whatever opening one raises; the next caller tries again.
        """
        async with self._turns:
            connection = self._kept() or await self._connect()
            try:
                yield connection
            finally:
                if self._is_closed or not connection.is_idle:
                    connection.discard()
                else:
                    self._idle.append((connection, time.monotonic()))

    def close(self) -> None:
        """Close the connections, those in use when they are given back; may be repeated."""
        self._is_closed = True
        for connection, _ in self._idle:
            connection.discard()
        self._idle.clear()

    def _kept(self) -> Connection | None:
        # The one that was used last; the others may be of before the server's restart.
        while self._idle:
            connection, since = self._idle.pop()
            if time.monotonic() - since < _LONGEST_IDLE_SECONDS and connection.is_idle:
                return connection
            connection.discard()
        return None
