"""Spools of processes that are killed, fork, or find the disk full (R49)."""

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from evidence_lookup.adapters.spool import SpooledTraces
from evidence_lookup.adapters.sqlite import SqliteTraces
from evidence_lookup.domain.record import ToolInvocation

HOST = Path(__file__).with_name("spool_host.py")
ENOUGH_SECONDS = 120.0


class Counting:
    """SQLite, and how often each id arrived there."""

    def __init__(self, sqlite: SqliteTraces) -> None:
        self._sqlite = sqlite
        self.arrived: Counter[str] = Counter()

    async def record(self, invocations: Sequence[ToolInvocation]) -> None:
        """Store them."""
        await self._sqlite.record(invocations)
        self.arrived.update(one.id for one in invocations)


def start(folder: Path, name: str, how: str) -> "subprocess.Popen[str]":
    """A host that records in *folder*."""
    return subprocess.Popen(
        [sys.executable, str(HOST), str(folder), name, how],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def killed(host: "subprocess.Popen[str]", *, after: float) -> list[str]:
    """The ids that *host* printed until it was killed, *after* seconds of work."""
    assert host.stdout is not None
    assert host.stderr is not None
    with host:
        first = host.stdout.readline()
        time.sleep(after)
        host.kill()
        lines = (first + host.stdout.read()).splitlines(keepends=True)
        assert "Traceback" not in host.stderr.read()
    return [line.strip() for line in lines if line.endswith("\n")]


async def everything(sqlite: SqliteTraces) -> set[str]:
    """The ids of all records in the store."""
    return {one.id for one in await sqlite.summaries(limit=2**31)}


@pytest.mark.parametrize("how", ["up", "down"])
async def test_R49_no_record_that_was_acknowledged_is_lost_by_kill_9(
    tmp_path: Path, how: str
) -> None:
    """Hosts are killed at random moments; the next one delivers what they left, each once."""
    sqlite, seed = SqliteTraces(tmp_path / "knowledge.sqlite"), random.Random(49)
    acknowledged: set[str] = set()
    for round_ in range(3):
        hosts = [start(tmp_path, f"{how}-{round_}-{number}", how) for number in range(2)]
        for host in hosts:
            after = seed.uniform(0, 0.3)
            ids = await anyio.to_thread.run_sync(lambda: killed(host, after=after))  # noqa: B023
            assert ids
            acknowledged.update(ids)
    store = Counting(sqlite)
    spool = SpooledTraces(store, tmp_path / "spool", max_bytes=2**26)
    waiting = (await spool.status()).pending
    assert await spool.settled(timeout_seconds=ENOUGH_SECONDS)
    assert acknowledged <= await everything(sqlite)
    assert set(store.arrived.values()) <= {1}
    assert spool.delivered == waiting
    if how == "down":
        assert acknowledged <= {*store.arrived}
    await spool.aclose()
    assert [*(tmp_path / "spool").glob("*")] == []
    await sqlite.aclose()


async def test_R49_a_host_that_dies_between_delivery_and_note_harms_nothing(
    tmp_path: Path,
) -> None:
    """What the store has is delivered again, and left there as it is."""
    host = start(tmp_path, "a", "last-words")
    printed, _ = await anyio.to_thread.run_sync(host.communicate)
    assert host.returncode == -9
    sqlite = SqliteTraces(tmp_path / "knowledge.sqlite")
    before = await everything(sqlite)
    assert before
    store = Counting(sqlite)
    spool = SpooledTraces(store, tmp_path / "spool", max_bytes=2**26)
    assert await spool.settled(timeout_seconds=ENOUGH_SECONDS)
    assert before <= {*store.arrived}
    found = [one.id for one in await sqlite.summaries(limit=2**31)]
    assert len(found) == len(set(found))
    assert {*printed.split()} <= {*found}
    await spool.aclose()
    await sqlite.aclose()


async def test_R49_several_heirs_share_out_what_was_left(tmp_path: Path) -> None:
    """Spools that find the same left files at once deliver each file once."""
    for number in range(3):
        host = start(tmp_path, f"{number}", "down")
        await anyio.to_thread.run_sync(lambda: killed(host, after=0.1))  # noqa: B023
    sqlite = SqliteTraces(tmp_path / "knowledge.sqlite")
    store = Counting(sqlite)
    heirs = [SpooledTraces(store, tmp_path / "spool", max_bytes=2**26) for _ in range(3)]
    waiting = (await heirs[0].status()).pending
    async with anyio.create_task_group() as tasks:
        for heir in heirs:
            tasks.start_soon(lambda one: one.settled(timeout_seconds=ENOUGH_SECONDS), heir)
    # One of them may have seen a file that another was at.
    assert await heirs[0].settled(timeout_seconds=ENOUGH_SECONDS)
    assert sum(one.delivered for one in heirs) == waiting
    assert set(store.arrived.values()) == {1}
    for heir in heirs:
        await heir.aclose()
    await sqlite.aclose()


_FULL_DISK = """
import asyncio, resource, sys
from pathlib import Path
from evidence_lookup.adapters.memory.traces import MemoryTraces
from evidence_lookup.adapters.spool import SpooledTraces
from evidence_lookup.domain.errors import BackendUnavailableError, StorageError
from evidence_lookup.testing.samples import invocation

class Store(MemoryTraces):
    is_down = True
    async def record(self, invocations):
        if self.is_down:
            raise BackendUnavailableError("nobody answers")
        await super().record(invocations)

async def main():
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    store = Store()
    spool = SpooledTraces(store, Path(sys.argv[1]), max_bytes=2**26)
    try:
        await spool.record([invocation(f"many {number}") for number in range(30)])
    except StorageError:
        pass
    kept = []
    for number in range(30):
        try:
            await spool.record([invocation(f"{number}")])
            kept.append(f"{number}")
        except StorageError as error:
            assert "data-dir" in str(error), error
    status = await spool.status()
    assert (status.pending, status.damaged) == (len(kept), 0), status
    assert 0 < len(kept) < 30, kept
    await spool.aclose()
    store.is_down = False
    assert await spool.settled(timeout_seconds=60)
    assert (await spool.status()).damaged == 0
    await spool.record([invocation("later")])
    assert await spool.settled(timeout_seconds=60)
    assert {one.id for one in await store.recent(limit=99)} == {*kept, "later"}
    await spool.aclose()

asyncio.run(main())
"""

_FORKED = """
import asyncio, os, sys, warnings
from pathlib import Path
from evidence_lookup.adapters.memory.traces import MemoryTraces
from evidence_lookup.adapters.spool import SpooledTraces
from evidence_lookup.domain.errors import BackendUnavailableError
from evidence_lookup.testing.samples import invocation

class Down:
    async def record(self, invocations):
        raise BackendUnavailableError("nobody answers")

folder = Path(sys.argv[1])
spool = SpooledTraces(Down(), folder, max_bytes=2**26)

async def write(name):
    await spool.record([invocation(name)])

async def adopted():
    store = MemoryTraces()
    heir = SpooledTraces(store, folder, max_bytes=2**26)
    assert await heir.settled(timeout_seconds=60)
    await heir.aclose()
    return {one.id for one in await store.recent(limit=9)}

asyncio.run(write("parent"))
warnings.simplefilter("ignore")  # later Pythons warn of forks beside threads
child = os.fork()
if child == 0:
    asyncio.run(write("child"))
    assert len(list(folder.iterdir())) == 2
    assert asyncio.run(adopted()) == set()  # both are in use
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert asyncio.run(adopted()) == {"child"}
lasting = os.fork()
if lasting == 0:
    sys.stdin.readline()
    os._exit(0)
asyncio.run(spool.aclose())
assert asyncio.run(adopted()) == {"parent"}  # though a child that inherited it still runs
"""


@pytest.mark.parametrize("program", [_FULL_DISK, _FORKED], ids=["full disk", "fork"])
def test_R49_a_full_disk_and_a_fork(tmp_path: Path, program: str) -> None:
    """What does not fit is refused whole; a child writes a file of its own and holds no other."""
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "spool")],
        input="",
        capture_output=True,
        text=True,
        timeout=ENOUGH_SECONDS,
    )
    assert run.returncode == 0, run.stderr
