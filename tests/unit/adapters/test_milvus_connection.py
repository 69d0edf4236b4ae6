"""The connection to a Milvus server, on a driver that fails as told."""

import asyncio
import threading
import time
from pathlib import Path
from typing import Any, cast

import pytest
from attrs import evolve

from evidence_lookup.adapters.milvus import client as module
from evidence_lookup.adapters.milvus import embedded
from evidence_lookup.adapters.milvus.client import MilvusConnection
from evidence_lookup.adapters.milvus.driver import Driver
from evidence_lookup.adapters.milvus.settings import MilvusSettings
from evidence_lookup.domain.errors import BackendFailedError, BackendTimeoutError


class FakeDriver:
    """Knows only whether it is open."""

    def __init__(self) -> None:
        self.is_open = True

    async def close(self) -> None:
        """As the driver's, which may be called once."""
        assert self.is_open
        self.is_open = False


@pytest.fixture
def drivers(monkeypatch: pytest.MonkeyPatch) -> list[FakeDriver]:
    """Every driver that was opened, in order."""
    opened: list[FakeDriver] = []

    async def open_driver(_settings: MilvusSettings, _uri: str) -> Driver:
        opened.append(FakeDriver())
        return cast("Driver", opened[-1])

    monkeypatch.setattr(module, "open_driver", open_driver)
    return opened


@pytest.fixture
def connection() -> MilvusConnection:
    """To a server that is never asked."""
    return MilvusConnection(MilvusSettings("http://localhost:1"))


async def _refused(_: Driver) -> None:
    raise RuntimeError("refused")


async def test_a_refusal_leaves_the_calls_beside_it_alone(
    connection: MilvusConnection, drivers: list[FakeDriver]
) -> None:
    """A client is left after an error, but closed only when the last call on it is done."""
    entered, may_end = asyncio.Event(), asyncio.Event()

    async def slow(driver: Any) -> bool:
        entered.set()
        await may_end.wait()
        return bool(driver.is_open)

    running = asyncio.create_task(connection.call(slow))
    await entered.wait()
    with pytest.raises(BackendFailedError):
        await connection.call(_refused)
    assert await connection.call(_is_open)
    assert [driver.is_open for driver in drivers] == [True, True]
    may_end.set()
    assert await running
    assert [driver.is_open for driver in drivers] == [False, True]
    await connection.aclose()
    assert not drivers[1].is_open


async def test_two_refusals_at_once_leave_one_client(
    connection: MilvusConnection, drivers: list[FakeDriver]
) -> None:
    """The client that was opened after the first failure is not left for the second one."""
    both = asyncio.Barrier(2)

    async def fail(_: Driver) -> None:
        await both.wait()
        raise RuntimeError("refused")

    await asyncio.gather(connection.call(fail), connection.call(fail), return_exceptions=True)
    assert await connection.call(_is_open)
    assert [driver.is_open for driver in drivers] == [False, True]
    await connection.aclose()


async def test_a_cancelled_call_closes_what_it_was_the_last_to_use(
    connection: MilvusConnection, drivers: list[FakeDriver]
) -> None:
    """A client that was left is closed also when its last caller gives up."""
    entered = asyncio.Event()

    async def endless(_: Driver) -> None:
        entered.set()
        await asyncio.sleep(3600)

    running = asyncio.create_task(connection.call(endless))
    await entered.wait()
    with pytest.raises(BackendFailedError):
        await connection.call(_refused)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert [driver.is_open for driver in drivers] == [False]
    await connection.aclose()


async def test_every_question_about_a_collection_has_an_end(
    connection: MilvusConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that takes a call and never answers holds nobody longer than the settings say."""
    fields = {"id": 21, "content": 21, "vector": 101, "metadata": 23}
    answers: dict[str, Any] = {
        "describe_collection": {
            "fields": [
                {"name": name, "type": kind, "is_primary": name == "id", "params": {"dim": 4}}
                for name, kind in fields.items()
            ]
        },
        "list_indexes": ["vector"],
        "describe_index": {"field_name": "vector", "metric_type": "COSINE"},
        "close": None,
    }
    timeouts: dict[str, float | None] = {}

    class Answering:
        def __getattr__(self, name: str) -> Any:
            async def answer(*_: object, **options: float) -> Any:
                timeouts[name] = options.get("timeout")
                return answers[name]

            return answer

    async def open_driver(_settings: MilvusSettings, _uri: str) -> Any:
        return Answering()

    monkeypatch.setattr(module, "open_driver", open_driver)
    assert (await connection.layout()).dimension == 4
    assert timeouts == dict.fromkeys(("describe_collection", "list_indexes", "describe_index"), 10)
    await connection.aclose()


async def _is_open(driver: Any) -> bool:
    return bool(driver.is_open)


async def test_modules_that_take_long_to_load(
    connection: MilvusConnection, drivers: list[FakeDriver], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening a client ends in time too, for whoever opens it and for whoever waits for that."""
    monkeypatch.setattr(module, "pymilvus", lambda: time.sleep(3))
    connection = MilvusConnection(evolve(connection.settings, timeout_seconds=0.1))
    started = time.monotonic()
    outcomes = await asyncio.gather(
        *(connection.call(_is_open) for _ in range(3)), return_exceptions=True
    )
    assert time.monotonic() - started < 2.5
    assert {type(one) for one in outcomes} == {BackendTimeoutError}
    assert drivers == []
    await connection.aclose()


async def test_writers_of_one_collection_take_turns() -> None:
    """Two adapters on one collection of a server write one after the other; others beside them."""
    running: list[str] = []

    async def write(name: str, collection: str) -> None:
        settings = MilvusSettings("http://localhost:1", collection=collection)

        async def work() -> None:
            running.append(name)
            await asyncio.sleep(0.02)
            running.append(name)

        await MilvusConnection(settings).write(work)

    await asyncio.gather(write("a", "one"), write("b", "one"), write("c", "two"))
    assert [name for name in running if name != "c"] in (list("aabb"), list("bbaa"))
    assert running.index("c") < 3


async def test_a_lease_that_nobody_waits_for_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever gives up while the embedded database starts leaves it free for others."""
    held: list[Path] = []
    returned = threading.Event()

    def acquire(path: Path) -> str:
        time.sleep(0.1)
        held.append(path)
        return "unix:none"

    def release(path: Path) -> None:
        held.remove(path)
        returned.set()

    monkeypatch.setattr(embedded, "acquire", acquire)
    monkeypatch.setattr(embedded, "release", release)
    connection = MilvusConnection(MilvusSettings(str(tmp_path / "k.db")))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await connection.call(_is_open)
    assert await asyncio.to_thread(returned.wait, 5)
    assert held == []
    await connection.aclose()
