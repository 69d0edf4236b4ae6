"""Blocking calls of a store, in threads of their own."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Generic, TypeVar

T = TypeVar("T")
_THREADS = 8


class Workers:
    """A few threads for one store, so that one that hangs starves nobody else in the process."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="vector-store")

    def start(self, call: Callable[[], T]) -> asyncio.Future[T]:
        """*call* in a thread, with a copy of the running context."""
        return asyncio.get_running_loop().run_in_executor(self._pool, copy_context().run, call)

    def close(self) -> None:
        """Start nothing more; what was started goes on."""
        self._pool.shutdown(wait=False)


class OpenedOnce(Generic[T]):
    """A thing that a blocking call makes, once for all who wait for it, and anew if it fails."""

    def __init__(
        self, make: Callable[[], T], drop: Callable[[T], None], workers: Workers, *, seconds: float
    ) -> None:
        """*drop* closes a thing that was made too late, in the thread that made it."""
        self._make = make
        self._drop = drop
        self._workers = workers
        self._seconds = seconds
        self._opening: asyncio.Future[T] | None = None
        self._lock = threading.Lock()
        self._made: T | None = None
        self._is_taken = False

    async def get(self) -> T:
        """The thing.

        Raises:
            TimeoutError: it is not there in time; it may be at the next call.
            Exception: whatever making it raises.
        """
        opening = self._opening
        if opening is None or (opening.done() and _failed(opening)):
            opening = self._opening = self._workers.start(self._make_and_keep)
        async with asyncio.timeout(self._seconds):
            # Who gives up waiting does not stop it: others wait too.
            return await asyncio.shield(opening)

    def take(self) -> T | None:
        """The thing to be closed, if it was made; none is made after this."""
        with self._lock:
            self._is_taken = True
            made, self._made = self._made, None
        return made

    def _make_and_keep(self) -> T:
        made = self._make()
        with self._lock:
            is_late = self._is_taken
            if not is_late:
                self._made = made
        if is_late:
            self._drop(made)
        return made


def _failed(future: asyncio.Future[T]) -> bool:
    return future.cancelled() or future.exception() is not None
