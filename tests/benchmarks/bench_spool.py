"""What recording through the spool costs: run ``python tests/benchmarks/bench_spool.py [records]``.

Per record: how long `record` takes, and the processor time of the event loop's thread and of the
whole process, delivery included. First one after the other, with a pause as between lookups, then
200 tasks at once; with SQLite behind it, with a store that refuses, and with one that hangs.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from attrs import evolve

from evidence_lookup.adapters.memory.no_traces import NoTraces
from evidence_lookup.adapters.spool import SpooledTraces
from evidence_lookup.adapters.sqlite import SqliteTraces
from evidence_lookup.domain.errors import BackendUnavailableError
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.selection import Drop, DropReason
from evidence_lookup.ports.trace import TraceRecorder
from evidence_lookup.testing import samples

_PAUSE_SECONDS = 0.01
_AT_ONCE = 200


class Down:
    """A store that nobody answers for."""

    async def record(self, invocations: Sequence[ToolInvocation]) -> None:
        """Refuse."""
        raise BackendUnavailableError("nobody answers")


class Hanging:
    """A store that never answers."""

    async def record(self, invocations: Sequence[ToolInvocation]) -> None:
        """Wait for ever."""
        await asyncio.Event().wait()


def record_of(number: int) -> ToolInvocation:
    """A record as of a lookup with 5 blocks of 20 candidates."""
    blocks = [samples.block(f"guide#chunk-{n}", f"{n} " + "text " * 200) for n in range(5)]
    drops = [Drop(f"guide#chunk-{n}", DropReason.RETURN_N, n, 0.5) for n in range(5, 20)]
    made = samples.result(blocks=blocks, drops=drops)
    return samples.invocation(of=evolve(made, invocation_id=f"{number:08}"))


async def measure(name: str, recorder: TraceRecorder, folder: Path, count: int) -> None:
    """Print what *count* records cost, in either way."""
    spool = SpooledTraces(recorder, folder, max_bytes=2**30, close_timeout_seconds=60)
    records = [record_of(number) for number in range(2 * count)]
    await spool.record([record_of(2 * count)])
    await asyncio.sleep(0.3)  # by now an outage is known
    seconds: list[float] = []
    loop, process = time.thread_time(), time.process_time()
    for record in records[:count]:
        began = time.perf_counter()
        await spool.record([record])
        seconds.append(time.perf_counter() - began)
        await asyncio.sleep(_PAUSE_SECONDS)
    loop, process = time.thread_time() - loop, time.process_time() - process
    slow = np.percentile(seconds, [50, 99]) * 1e3
    print(
        f"{name:22} alone     p50 {slow[0]:7.3f} ms, p99 {slow[1]:7.3f} ms, processor: loop "
        f"{loop / count * 1e6:4.0f} µs, all {process / count * 1e6:4.0f} µs"
    )
    waiting, seconds = iter(records[count:]), []

    async def some() -> None:
        for record in waiting:
            began = time.perf_counter()
            await spool.record([record])
            seconds.append(time.perf_counter() - began)

    began, process = time.perf_counter(), time.process_time()
    await asyncio.gather(*(some() for _ in range(_AT_ONCE)))
    took, process = time.perf_counter() - began, time.process_time() - process
    slow = np.percentile(seconds, [50, 99]) * 1e3
    print(
        f"{name:22} {_AT_ONCE} tasks p50 {slow[0]:7.3f} ms, p99 {slow[1]:7.3f} ms, "
        f"{count / took:,.0f} records/s, processor: all {process / count * 1e6:4.0f} µs"
    )
    began = time.perf_counter()
    if await spool.settled(timeout_seconds=0.5 if not isinstance(recorder, SqliteTraces) else 60):
        print(f"{name:22} settled after {time.perf_counter() - began:.3f} s")
    await spool.aclose()


async def main(count: int) -> None:
    """Each kind of store in turn."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        sqlite = SqliteTraces(folder / "knowledge.sqlite")
        await measure("no store", NoTraces(), folder / "none", count)
        await measure("sqlite", sqlite, folder / "up", count)
        await sqlite.aclose()
        await measure("store down", Down(), folder / "down", count)
        await measure("store hangs", Hanging(), folder / "hanging", count)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000))
