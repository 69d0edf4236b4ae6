"""One writer at a time, many readers beside it or not, within one event loop."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class Gate:
    """Lets writes pass one by one and, if it is *closing*, no search beside them.

    Two replacements of one document at once would each remove what the other wrote. The embedded
    Milvus moreover removes the old rows of an upsert before it adds the new ones, in two steps
    that a search can fall between; a waiting write goes before new searches. Only one process can
    hold its file, so that a gate in this process is enough.
    """

    def __init__(self, *, closing: bool) -> None:
        self._closing = closing
        self._readers = 0
        self._writing = False
        self._writers_waiting = 0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[None, None]:
        """Inside, no write runs, if the gate is closing."""
        if not self._closing:
            yield
            return
        async with self._changed:
            await self._changed.wait_for(lambda: not self._writing and not self._writers_waiting)
            self._readers += 1
        try:
            yield
        finally:
            self._readers -= 1
            await self._tell()

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[None, None]:
        """Inside, no other write runs, and no search either if the gate is closing."""
        async with self._changed:
            self._writers_waiting += 1
            try:
                await self._changed.wait_for(lambda: not self._writing and not self._readers)
                self._writing = True
            finally:
                self._writers_waiting -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            self._writing = False
            await self._tell()

    async def _tell(self) -> None:
        # A cancelled caller must still wake the others.
        await asyncio.shield(asyncio.ensure_future(self._notify()))

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()
