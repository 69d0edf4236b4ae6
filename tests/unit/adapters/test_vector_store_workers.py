"""Blocking calls of a store: a few at once, hanging ones left behind, and openings shared."""

import asyncio
import gc
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from evidence_lookup.adapters.vector_store.workers import (
    AT_ONCE,
    MOST_THREADS,
    OpenedOnce,
    Workers,
)


@pytest.fixture
def stuck() -> Iterator[threading.Event]:
    """Set at the end, so that no thread outlives the test."""
    event = threading.Event()
    yield event
    event.set()


async def give_up(workers: Workers, event: threading.Event, count: int) -> None:
    """Leave *count* hanging calls behind."""
    while count > 0:
        calls = [asyncio.create_task(workers.run(event.wait)) for _ in range(min(count, AT_ONCE))]
        await asyncio.sleep(0.02)
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
        assert all(call.cancelled() for call in calls)
        count -= len(calls)


async def test_calls_that_hang_take_no_place(stuck: threading.Event) -> None:
    """However many callers gave up, the next call runs at once."""
    workers = Workers()
    await give_up(workers, stuck, 3 * AT_ONCE)
    assert await asyncio.wait_for(workers.run(lambda: 7), 5) == 7


async def test_hanging_calls_are_bounded(stuck: threading.Event) -> None:
    """Beyond the most threads a call is refused and says why; when they end, it runs again."""
    workers = Workers()
    await give_up(workers, stuck, MOST_THREADS)
    with pytest.raises(TimeoutError, match=f"{MOST_THREADS} calls hang"):
        await workers.run(lambda: 7)
    stuck.set()
    for _ in range(200):
        try:
            assert await workers.run(lambda: 7) == 7
            return
        except TimeoutError:
            await asyncio.sleep(0.02)
    pytest.fail("no thread has ended")


async def test_a_few_run_at_once() -> None:
    """Calls run side by side, but never more of them than a store is meant to take."""
    workers, running, most = Workers(), 0, 0
    lock = threading.Lock()

    def call() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.05)
        with lock:
            running -= 1

    await asyncio.gather(*(workers.run(call) for _ in range(3 * AT_ONCE)))
    assert most == AT_ONCE


@pytest.mark.parametrize("error", [ValueError("bad"), StopIteration(), SystemError("odd")])
async def test_what_a_call_raises_arrives(error: Exception) -> None:
    """An error in the thread ends the call, one that no future can hold too."""

    def fail() -> None:
        raise error

    with pytest.raises((type(error), RuntimeError)) as caught:
        await asyncio.wait_for(Workers().run(fail), 5)
    assert error in (caught.value, caught.value.__cause__)


_HANGING = """
import asyncio, threading, time
from langchain_core.vectorstores import InMemoryVectorStore
from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.milvus import MilvusSettings
from evidence_lookup.adapters.vector_store import VectorStoreKnowledge, VectorStoreSettings
from evidence_lookup.domain.errors import BackendTimeoutError
from evidence_lookup.testing.knowledge_samples import DIMENSION, asked

class Hanging(InMemoryVectorStore):
    def similarity_search_with_score_by_vector(self, *_, **__):
        threading.Event().wait()

async def main():
    embedder = MemoryEmbedder(dimension=DIMENSION)
    knowledge = VectorStoreKnowledge(
        VectorStoreSettings(timeout_seconds=0.1), milvus=MilvusSettings(), embedder=embedder,
        store=Hanging(None),
    )
    try:
        await knowledge.search(asked())
    except BackendTimeoutError:
        await knowledge.aclose()
        print("gave up", flush=True)

asyncio.run(main())
"""


def test_the_process_ends_though_a_call_hangs() -> None:
    """A store that never answers does not keep the interpreter from ending."""
    done = subprocess.run(
        [sys.executable, "-c", _HANGING], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "gave up\n", "")


class Opening:
    """Opens when it is let go, and counts what is open."""

    def __init__(self, event: threading.Event, fault: Exception | None = None) -> None:
        self.event, self.fault = event, fault
        self.made = self.dropped = 0

    def make(self) -> str:
        """Late."""
        self.event.wait(60)
        self.made += 1
        if self.fault is not None:
            raise self.fault
        return "opened"

    def drop(self, made: str) -> None:
        """Counted."""
        self.dropped += 1

    def once(self, seconds: float = 60.0) -> OpenedOnce[str]:
        """The thing."""
        return OpenedOnce(self.make, self.drop, Workers(), seconds=seconds)


async def test_an_opening_is_shared(stuck: threading.Event) -> None:
    """All who wait get the same one, and who gives up harms nobody."""
    opening = Opening(stuck)
    once = opening.once()
    waiting = [asyncio.create_task(once.get()) for _ in range(10)]
    await asyncio.sleep(0.02)
    waiting.pop(0).cancel()
    stuck.set()
    assert await asyncio.gather(*waiting) == ["opened"] * 9
    assert (opening.made, once.take(), opening.dropped) == (1, "opened", 0)


async def test_an_opening_is_taken_meanwhile(stuck: threading.Event) -> None:
    """Who waits, and who comes later, is told so; what is made late is dropped."""
    opening = Opening(stuck)
    once = opening.once()
    waiting = asyncio.create_task(once.get())
    await asyncio.sleep(0.02)
    assert once.take() is None
    for call in (waiting, once.get()):
        with pytest.raises(ConnectionAbortedError, match="closed"):
            await call
    stuck.set()
    for _ in range(200):
        if opening.dropped:
            break
        await asyncio.sleep(0.01)
    assert (opening.made, opening.dropped) == (1, 1)


@pytest.mark.parametrize("meets", [True, False])
async def test_an_error_that_meets_a_cancellation_is_not_reported(
    stuck: threading.Event, meets: bool
) -> None:
    """An opening that fails as its last caller goes, or after, is nothing the loop tells of."""
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    once = Opening(stuck, OSError("refused")).once()

    async def give_up_waiting(once: OpenedOnce[str]) -> None:
        before = asyncio.all_tasks()
        waiting = asyncio.create_task(once.get())
        await asyncio.sleep(0.02)
        (opening,) = asyncio.all_tasks() - before - {waiting}
        if meets:
            opening.add_done_callback(lambda _: waiting.cancel())
        else:
            waiting.cancel()
        stuck.set()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.wait([opening])

    await give_up_waiting(once)
    del once
    gc.collect()
    await asyncio.sleep(0)
    assert reported == []
