"""The spool in front of a store that fails, hangs, refuses and comes back (R49)."""

import asyncio
import gc
import logging
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import cast

import anyio
import pytest

from evidence_lookup.adapters.json_values import dumps
from evidence_lookup.adapters.memory.traces import MemoryTraces
from evidence_lookup.adapters.spool import SpooledTraces
from evidence_lookup.adapters.spool.frames import framed
from evidence_lookup.domain.errors import (
    BackendFailedError,
    BackendUnavailableError,
    CollectionMissingError,
    StorageError,
)
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.record_limits import SMALLEST_LIMIT
from evidence_lookup.ports.spool import Spool
from evidence_lookup.testing.samples import SOME_TIME, block, invocation, result

_SOON = 60.0


class Store:
    """A trace store that does as the test says; ids in `bad` it refuses."""

    def __init__(self) -> None:
        self.stored: Counter[str] = Counter()
        self.batches: list[int] = []
        self.error: Exception | None = None
        self.hangs = False
        self.bad: set[str] = set()
        self.attempts = 0

    async def record(self, invocations: Sequence[ToolInvocation]) -> None:
        """Store them, or fail."""
        self.attempts += 1
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        if self.bad & {one.id for one in invocations}:
            raise BackendFailedError("refused")
        self.batches.append(len(invocations))
        self.stored.update(one.id for one in invocations)


@pytest.fixture
def store() -> Store:
    """It works."""
    return Store()


def spool_of(store: Store, folder: Path, *, max_bytes: int = 2**26) -> SpooledTraces:
    """A spool whose attempts last 200 ms at most."""
    return SpooledTraces(
        store,
        folder,
        max_bytes=max_bytes,
        delivery_timeout_seconds=0.2,
        close_timeout_seconds=1.0,
    )


async def record_all(spool: Spool, ids: Sequence[str]) -> None:
    """Record *ids* in as many tasks."""
    async with anyio.create_task_group() as tasks:
        for one in ids:
            tasks.start_soon(spool.record, [invocation(one)])


def ids(count: int, prefix: str = "") -> list[str]:
    """*count* different ids."""
    return [f"{prefix}{number:05}" for number in range(count)]


def frame_of(invocation_id: str, query: str = "q") -> bytes:
    """The record of that id as a spool file holds it."""
    return framed(dumps(invocation(invocation_id, query=query)).encode())


def files(folder: Path) -> list[Path]:
    """What stands in *folder*."""
    return sorted(folder.iterdir())


def has_delivered(spool: SpooledTraces, count: int) -> bool:
    """Whether *count* records or more have reached the store."""
    return spool.delivered >= count


async def until(condition: Callable[[], object]) -> None:
    """Wait until *condition* holds."""
    with anyio.fail_after(_SOON):
        while not condition():  # noqa: ASYNC110 - what it looks at knows no events
            await anyio.sleep(0.01)


async def test_R49_without_being_asked_the_courier_delivers(store: Store, tmp_path: Path) -> None:
    """A record reaches the store on its own, and leaves an empty file that closing removes."""
    spool = spool_of(store, tmp_path)
    await spool.record([invocation("a")])
    await until(lambda: spool.delivered == 1)
    assert store.stored == {"a": 1}
    (file,) = files(tmp_path)
    assert file.stat().st_size == 0
    assert file.stat().st_mode & 0o777 == 0o600
    await spool.aclose()
    assert files(tmp_path) == []


async def test_R49_two_hundred_tasks_record_at_once(store: Store, tmp_path: Path) -> None:
    """Each record is stored once, and they travel in batches rather than singly."""
    spool = spool_of(store, tmp_path)
    await record_all(spool, ids(200))
    assert await spool.settled(timeout_seconds=_SOON)
    assert store.stored == dict.fromkeys(ids(200), 1)
    assert len(store.batches) < 50
    assert max(store.batches) <= 100
    await spool.aclose()


async def test_R49_under_load_records_are_delivered_in_batches(
    store: Store, tmp_path: Path
) -> None:
    """Those that follow each other soon gather, and go together."""
    spool = SpooledTraces(store, tmp_path, max_bytes=2**26, linger_seconds=2.0)
    for one in ids(20):
        await spool.record([invocation(one)])
    await until(partial(has_delivered, spool, 20))
    assert store.batches == [20]
    await spool.aclose()


@pytest.mark.parametrize("fault", ["down", "hangs", "missing", "refuses all"])
async def test_R49_an_outage_costs_no_record(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture, fault: str
) -> None:
    """While the store takes none, records wait; after, each is there once; two lines say so."""
    caplog.set_level(logging.INFO)
    errors = {
        "down": BackendUnavailableError("nobody answers"),
        "missing": CollectionMissingError("no table"),
        "refuses all": BackendFailedError("not allowed"),
    }
    store.error, store.hangs = errors.get(fault), fault == "hangs"
    spool = spool_of(store, tmp_path)
    await record_all(spool, ids(150))
    await until(lambda: store.attempts >= 3)
    assert not await spool.settled(timeout_seconds=0.3)
    status = await spool.status()
    assert (status.pending, status.files, status.refused) == (150, 1, 0)
    store.error, store.hangs = None, False
    await record_all(spool, ids(50, "later"))
    assert await spool.settled(timeout_seconds=_SOON)
    assert store.stored == dict.fromkeys(ids(150) + ids(50, "later"), 1)
    assert (await spool.status()).error is None
    first, last = (one.message for one in caplog.records)
    assert "takes no records" in first
    assert last.endswith(": 200 delivered")
    await spool.aclose()


async def test_R49_an_outage_is_no_busy_loop(store: Store, tmp_path: Path) -> None:
    """A store that is down is tried now and then, also while records keep coming."""
    store.error = BackendUnavailableError("nobody answers")
    spool = spool_of(store, tmp_path)
    for one in ids(200):
        await spool.record([invocation(one)])
        await anyio.sleep(0.005)
    assert store.attempts <= 10  # after 0, 0.1, 0.3, 0.7, 1.5 s and so on
    await spool.aclose()


async def test_R49_an_answer_never_waits_for_the_store(store: Store, tmp_path: Path) -> None:
    """With a store that hangs, `record` returns all the same."""
    store.hangs = True
    spool = SpooledTraces(store, tmp_path, max_bytes=2**26, delivery_timeout_seconds=3_600)
    with anyio.fail_after(_SOON):
        await record_all(spool, ids(20))
        for one in ids(20, "later"):
            await spool.record([invocation(one)])
    assert store.stored == {}
    assert (await spool.status()).pending == 40
    store.hangs = False
    await spool.aclose()


async def test_R49_a_record_that_is_refused_alone_is_put_aside(
    store: Store, tmp_path: Path
) -> None:
    """It blocks none of the others, is kept in a file, and counted; renamed, it is tried again."""
    store.bad = {"00003", "00140"}
    spool = spool_of(store, tmp_path)
    await record_all(spool, ids(150))
    assert await spool.settled(timeout_seconds=_SOON)
    assert store.stored == dict.fromkeys(sorted({*ids(150)} - store.bad), 1)
    status = await spool.status()
    assert (status.pending, status.refused, spool.refused, spool.lost) == (0, 2, 2, 0)
    assert spool.delivered == 148
    store.bad = set()
    (tmp_path / "refused.frames").rename(tmp_path / "again.spool")
    assert await spool.settled(timeout_seconds=_SOON)
    assert store.stored == dict.fromkeys(ids(150), 1)
    await spool.aclose()
    assert files(tmp_path) == []


async def test_R49_a_bad_record_that_an_ended_process_left_blocks_nothing(
    store: Store, tmp_path: Path
) -> None:
    """Alone in its file it might be the store's fault; others that pass show that it is not."""
    store.error = BackendUnavailableError("nobody answers")
    ended = spool_of(store, tmp_path)
    await ended.record([invocation("bad")])
    await ended.aclose()
    store.error, store.bad = None, {"bad"}
    spool = spool_of(store, tmp_path)
    assert not await spool.settled(timeout_seconds=0.5)
    assert (await spool.status()).pending == 1
    await spool.record([invocation("good")])
    assert await spool.settled(timeout_seconds=_SOON)
    assert store.stored == {"good": 1}
    assert (await spool.status()).refused == 1
    await spool.aclose()


async def test_R49_refused_records_are_bounded(store: Store, tmp_path: Path) -> None:
    """They get a quarter of the room; what finds none is counted as lost."""
    size = len(framed(b"")) + 3_000
    spool = spool_of(store, tmp_path, max_bytes=40 * size)
    bad = ids(20, "bad")
    store.bad = {*bad}
    for one in bad:
        await spool.record([invocation(one), invocation(f"good {one}")])
        assert await spool.settled(timeout_seconds=_SOON)
    assert spool.refused >= 1
    assert spool.lost >= 1
    assert spool.refused + spool.lost == 20
    assert spool.delivered == 20
    await spool.aclose()


async def test_R49_a_full_spool_says_so_and_works_again_later(store: Store, tmp_path: Path) -> None:
    """Beyond the bound nothing is written, and each caller is told; what is there is delivered."""
    store.error = BackendUnavailableError("nobody answers")
    spool = spool_of(store, tmp_path, max_bytes=20_000)
    kept: list[str] = []
    for one in ids(20):
        try:
            await spool.record([invocation(one)])
            kept.append(one)
        except StorageError as error:
            assert "trace.spool-max-bytes" in str(error)  # noqa: PT017 - some pass
    assert 1 < len(kept) < 20
    status = await spool.status()
    assert status.pending == len(kept)
    assert status.size_bytes <= status.limit_bytes == 20_000
    other = spool_of(store, tmp_path, max_bytes=20_000)
    with pytest.raises(StorageError, match="full"):
        await other.record([invocation(one) for one in ids(5, "other")])
    store.error = None
    assert await spool.settled(timeout_seconds=_SOON)
    await spool.record([invocation("later")])
    assert await spool.settled(timeout_seconds=_SOON)
    assert store.stored == dict.fromkeys([*kept, "later"], 1)
    await spool.aclose()
    await other.aclose()


async def test_R49_what_a_closed_spool_leaves_the_next_one_delivers(
    store: Store, tmp_path: Path
) -> None:
    """Closing does not wait for a store that is down; the next spool tells what waits, and since
    when, and delivers it.
    """
    store.error = BackendUnavailableError("nobody answers")
    first = spool_of(store, tmp_path)
    times = {"a": SOME_TIME + timedelta(hours=1), "b": SOME_TIME}
    await first.record([invocation("a", created_at=times["a"])])
    await first.aclose()
    await first.record([invocation("b", created_at=times["b"])])  # it may be used again
    await until(lambda: store.attempts >= 2)
    await first.aclose()
    await first.aclose()
    second = spool_of(store, tmp_path)
    status = await second.status()
    assert (status.pending, status.files, status.oldest) == (2, 2, SOME_TIME)
    store.error = None
    assert await second.settled(timeout_seconds=_SOON)
    assert store.stored == {"a": 1, "b": 1}
    assert files(tmp_path) == []
    await second.aclose()


async def test_R49_a_spool_in_use_is_left_alone(store: Store, tmp_path: Path) -> None:
    """A second spool in the folder delivers its own records, and not those of the first."""
    down = Store()
    down.error = BackendUnavailableError("nobody answers")
    first, second = spool_of(down, tmp_path), spool_of(store, tmp_path)
    await first.record([invocation("a")])
    await second.record([invocation("b")])
    assert await second.settled(timeout_seconds=_SOON)
    assert store.stored == {"b": 1}
    assert (await second.status()).pending == 1
    await first.aclose()
    assert await second.settled(timeout_seconds=_SOON)
    assert store.stored == {"a": 1, "b": 1}
    await second.aclose()


async def test_R49_left_files_are_found_by_and_by(store: Store, tmp_path: Path) -> None:
    """A spool that is in use delivers what others leave, without being asked."""
    spool = SpooledTraces(store, tmp_path, max_bytes=2**26, rescan_seconds=0.05)
    await spool.record([invocation("a")])
    (tmp_path / "left.spool").write_bytes(frame_of("b"))
    await until(lambda: store.stored == {"a": 1, "b": 1})
    await spool.aclose()


async def test_R49_thousands_of_records_wait_in_the_file(store: Store, tmp_path: Path) -> None:
    """A long outage fills the file and not the memory, and all comes out again."""
    store.error = BackendUnavailableError("nobody answers")
    spool = spool_of(store, tmp_path)
    for start in range(0, 6_000, 1_000):
        await spool.record([invocation(f"{start + number:05}") for number in range(1_000)])
    gc.collect()
    in_memory = sum(isinstance(one, ToolInvocation) for one in gc.get_objects())
    assert in_memory < 2_500  # those kept for delivery, and a batch on its way
    store.error = None
    assert await spool.settled(timeout_seconds=_SOON)
    assert store.stored == dict.fromkeys(ids(6_000), 1)
    await spool.aclose()


async def test_R49_a_file_in_use_does_not_grow_for_ever(store: Store, tmp_path: Path) -> None:
    """Where the file is never empty, since records keep coming, the next one is begun."""
    spool = spool_of(store, tmp_path)
    payload = [invocation(one, query="x" * 2_000) for one in ids(2_000)]
    stop = False
    largest = 0

    async def watch() -> None:
        nonlocal largest
        while not stop:
            sizes = [one.stat().st_size for one in files(tmp_path) if one.exists()]
            largest = max(largest, sum(sizes))
            await anyio.sleep(0.01)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        for number in range(0, 2_000, 20):
            await spool.record(payload[number : number + 20])
            await until(partial(has_delivered, spool, number - 200))
        stop = True
    assert await spool.settled(timeout_seconds=_SOON)
    assert store.stored == dict.fromkeys(ids(2_000), 1)
    assert largest < 6_000_000 < sum(len(frame_of("a", "x" * 2_000)) for _ in payload)
    await spool.aclose()


async def test_R49_damage_costs_the_damaged_record_only(store: Store, tmp_path: Path) -> None:
    """Of a left file all intact records are delivered, and the damage is counted."""
    frames = [frame_of(one) for one in ids(5)]
    frames[1] = frames[1][:-1] + b"?"
    frames[4] = frames[4][:-100]
    (tmp_path / "left.spool").write_bytes(b"junk" + b"".join(frames))
    spool = spool_of(store, tmp_path)
    status = await spool.status()
    assert (status.pending, status.oldest) == (3, SOME_TIME)
    assert await spool.settled(timeout_seconds=_SOON)
    assert store.stored == dict.fromkeys(["00000", "00002", "00003"], 1)
    assert (await spool.status()).damaged == 3
    await spool.aclose()


async def test_R49_aframe_of_another_version_is_put_aside(store: Store, tmp_path: Path) -> None:
    """What a later release has written is kept for it, and blocks nothing."""
    strange = framed(b"\x80\x81", version=2) + framed(b"{}")
    (tmp_path / "left.spool").write_bytes(strange + frame_of("a"))
    spool = spool_of(store, tmp_path)
    assert await spool.settled(timeout_seconds=_SOON)
    assert store.stored == {"a": 1}
    assert (tmp_path / "refused.frames").read_bytes() == strange
    await spool.aclose()


async def test_C71_a_record_beyond_its_limit_is_shortened(tmp_path: Path) -> None:
    """200 blocks of 5 kB are delivered as a record within the limit in bytes, which says so."""
    traces = MemoryTraces()
    spool = SpooledTraces(traces, tmp_path, max_bytes=2**26, max_record_bytes=SMALLEST_LIMIT)
    blocks = [block(f"guide#chunk-{n}", "文" * 5_000) for n in range(200)]
    await spool.record([invocation("a"), invocation(of=result(blocks=blocks, invocation_id="b"))])
    assert await spool.settled(timeout_seconds=_SOON)
    shortened, whole = await traces.recent(limit=2)
    assert whole == invocation("a")
    assert "record_shortened" in shortened.retrieval_details.retrieval_trace.warnings[-1]
    assert len(dumps(shortened).encode()) <= SMALLEST_LIMIT
    await spool.aclose()


async def test_R49_an_unusable_folder_is_named(store: Store, tmp_path: Path) -> None:
    """Where the folder cannot be made, the error says where it is set; the store is not harmed."""
    (tmp_path / "file").write_text("in the way")
    spool = spool_of(store, tmp_path / "file" / "spool")
    with pytest.raises(StorageError, match="data-dir"):
        await spool.record([invocation("a")])
    assert not await spool.settled(timeout_seconds=1)
    await spool.aclose()


async def test_R49_a_deleted_folder_is_made_again(store: Store, tmp_path: Path) -> None:
    """Records that were on their way are delivered from memory, later ones as ever."""
    store.error = BackendUnavailableError("nobody answers")
    spool = spool_of(store, tmp_path / "spool")
    await spool.record([invocation("a")])
    for file in files(tmp_path / "spool"):
        file.unlink()
    (tmp_path / "spool").rmdir()
    await spool.record([invocation("b")])
    assert len(files(tmp_path / "spool")) == 1  # "b" survives the process again
    store.error = None
    assert await spool.settled(timeout_seconds=_SOON)
    await spool.record([invocation("c")])
    assert await spool.settled(timeout_seconds=_SOON)
    assert store.stored == {"a": 1, "b": 1, "c": 1}
    await spool.aclose()


async def test_what_is_no_record_is_refused_at_once(store: Store, tmp_path: Path) -> None:
    """Nothing of its batch is written."""
    spool = spool_of(store, tmp_path)
    with pytest.raises(TypeError, match="no record"):
        await spool.record([invocation("a"), cast("ToolInvocation", "b")])
    assert await spool.settled(timeout_seconds=_SOON)
    assert files(tmp_path) == []
    await spool.aclose()


def test_R49_a_loop_that_just_ends_leaves_no_noise(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Without `aclose`, in an outage: no task is left behind, and the record is not lost."""
    store.error = BackendUnavailableError("nobody answers")
    spool = spool_of(store, tmp_path)

    async def use() -> None:
        await spool.record([invocation("a")])
        await until(lambda: store.attempts)
        await anyio.sleep(0.05)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(use())
    loop.close()  # no task is cancelled
    caplog.clear()
    with warnings.catch_warnings(record=True) as seen:
        gc.collect()
    assert (seen, caplog.records) == ([], [])
    store.error = None

    async def use_again() -> None:
        assert await spool.settled(timeout_seconds=_SOON)
        await spool.aclose()

    asyncio.run(use_again())
    assert store.stored == {"a": 1}


async def test_R49_threads_with_loops_of_their_own_share_a_spool(
    store: Store, tmp_path: Path
) -> None:
    """One object serves several event loops at once."""
    spool = spool_of(store, tmp_path)

    async def use(prefix: str) -> None:
        await record_all(spool, ids(50, prefix))
        assert await spool.settled(timeout_seconds=_SOON)

    await asyncio.gather(*(asyncio.to_thread(asyncio.run, use(prefix)) for prefix in "abcd"))
    assert await spool.settled(timeout_seconds=_SOON)
    # Two loops may deliver one batch at once; a store leaves what it has.
    assert {*store.stored} == {one for prefix in "abcd" for one in ids(50, prefix)}
    assert spool.delivered == 200
    await spool.aclose()


async def test_R49_a_cancelled_caller_takes_nobody_along(store: Store, tmp_path: Path) -> None:
    """Callers that stop waiting harm no other's record."""
    spool = spool_of(store, tmp_path)
    hasty = [asyncio.create_task(spool.record([invocation(one)])) for one in ids(20, "hasty")]
    patient = asyncio.create_task(record_all(spool, ids(20)))
    await asyncio.sleep(0)
    for task in hasty:
        task.cancel()
    await patient
    assert await spool.settled(timeout_seconds=_SOON)
    assert {*ids(20)} <= {*store.stored}
    assert set(store.stored.values()) == {1}
    await spool.aclose()


async def test_settled_is_immediate_where_nothing_waits(store: Store, tmp_path: Path) -> None:
    """An unused spool is settled, with no time at all to wait, and makes no folder."""
    spool = spool_of(store, tmp_path / "spool")
    assert await spool.settled(timeout_seconds=_SOON)
    assert (await spool.status()).pending == 0
    assert files(tmp_path) == []
    assert store.attempts == 0
    await spool.aclose()
