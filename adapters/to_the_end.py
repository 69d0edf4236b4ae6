"""Work that runs to its end, though whoever asked for it is cancelled."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class ToTheEnd:
    """The pieces of work that are under way in one event loop."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What *work* gives; cancelled meanwhile, this ends at once and *work* goes on."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            # Not a shield: an error that meets a cancellation would stay in it, and be reported.
            await asyncio.wait([task])
        except asyncio.CancelledError:
            # Nobody waits for its outcome any more.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            raise
        return task.result()

    async def join(self) -> None:
        """Wait until all of it has ended, however it ended."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
