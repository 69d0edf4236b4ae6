"""Blocking calls of a store, in threads of their own."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import Generic, TypeVar

T = TypeVar("T")
AT_ONCE = 8
MOST_THREADS = 64


class Workers:
    """Runs the blocking calls of one store, `AT_ONCE` at a time.

    A call that hangs is left behind when its caller gives up: it takes no place from others, until
    there are `MOST_THREADS` of them, and the process can end without it.
    """

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(AT_ONCE)
        self._threads = threading.BoundedSemaphore(MOST_THREADS)

    async def run(self, call: Callable[[], T]) -> T:
        """What *call* gives in a thread, with a copy of the running context.

        Raises:
            TimeoutError: too many calls hang already.
            Exception: whatever *call* raises.
        """
        async with self._places:
            if not self._threads.acquire(blocking=False):
                raise TimeoutError(f"{MOST_THREADS} calls hang, so that no other is started")
            outcome: Future[T] = Future()
            outcome.set_running_or_notify_cancel()
            context = copy_context()

            def work() -> None:
                try:
                    found = context.run(call)
                except BaseException as error:
                    self._threads.release()
                    outcome.set_exception(_raisable(error))
                else:
                    self._threads.release()
                    outcome.set_result(found)

            # A daemon, which no pool has: those of asyncio and of anyio are waited for at the end.
            threading.Thread(target=work, name="vector-store", daemon=True).start()
            return await asyncio.wrap_future(outcome)


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
        self._opening: asyncio.Task[T] | None = None
        self._lock = threading.Lock()
        self._made: T | None = None
        self._is_taken = False

    async def get(self) -> T:
        """The thing.

        Raises:
            TimeoutError: it is not there in time; it may be at the next call.
            ConnectionAbortedError: it was taken, before or meanwhile.
            Exception: whatever making it raises.
        """
        if self._is_taken:
            raise ConnectionAbortedError("it is closed")
        opening = self._opening
        if opening is None or (opening.done() and _has_failed(opening)):
            opening = asyncio.create_task(self._workers.run(self._make_and_keep))
            # It may fail when nobody waits any more.
            opening.add_done_callback(_has_failed)
            self._opening = opening
        async with asyncio.timeout(self._seconds):
            # Who gives up waiting does not stop it: others wait too. Not a shield, in which an
            # error that meets a cancellation would stay, and be reported.
            await asyncio.wait([opening])
        if opening.cancelled():
            raise ConnectionAbortedError("it was closed while it was opened")
        return opening.result()

    def take(self) -> T | None:
        """The thing to be closed, if it was made; none is made after this."""
        with self._lock:
            self._is_taken = True
            made, self._made = self._made, None
        if self._opening is not None:
            self._opening.cancel()
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


def _has_failed(opening: "asyncio.Task[T]") -> bool:
    return opening.cancelled() or opening.exception() is not None


def _raisable(error: BaseException) -> BaseException:
    """*error* as a future can hold it."""
    if not isinstance(error, StopIteration):
        return error
    held = RuntimeError("the store raised StopIteration")
    held.__cause__ = error
    return held
