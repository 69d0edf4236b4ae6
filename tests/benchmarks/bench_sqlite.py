"""How long the SQLite adapters take: run ``python tests/benchmarks/bench_sqlite.py [entries]``."""

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from evidence_lookup.adapters.sqlite import SqliteCatalogue, SqliteTraces
from evidence_lookup.domain.trace_filter import TraceFilter
from evidence_lookup.testing.samples import entry, invocation


async def timed(what: str, work: Callable[[], Awaitable[object]], *, repeat: int = 1) -> None:
    """Print the mean time of *repeat* runs, in milliseconds."""
    begin = time.perf_counter()
    for _ in range(repeat):
        await work()
    print(f"{what:40}{(time.perf_counter() - begin) / repeat * 1e3:12.3f} ms")


async def measure(path: Path, count: int) -> None:
    """A catalogue of *count* entries, then records one by one and in a batch."""
    catalogue, traces = SqliteCatalogue(path), SqliteTraces(path)
    entries = [
        entry(
            f"folder {number % 100}/document {number}",
            keywords=("retry", "timeout", f"keyword {number}"),
            headings=[f"Heading {place} of {number}" for place in range(5)],
            scope={"tenant": "acme"},
        )
        for number in range(count)
    ]
    ids = [one.doc_id for one in entries]
    await timed("open a new file", catalogue.revision)
    await timed(f"put {count} entries", lambda: catalogue.put(entries))
    await timed("put one entry", lambda: catalogue.put(entries[:1]), repeat=200)
    await timed("entries", catalogue.entries)
    await timed("get all by id", lambda: catalogue.get(ids))
    await timed("revision", catalogue.revision, repeat=500)
    await timed("remove all", lambda: catalogue.remove(ids))
    records = [invocation(f"{number:06}", session_id=f"{number % 100}") for number in range(11_000)]
    one_by_one = iter(records[:1_000])
    await timed("record one", lambda: traces.record([next(one_by_one)]), repeat=1_000)
    await timed("record 10,000", lambda: traces.record(records[1_000:]))
    await timed("get one", lambda: traces.get("005000"), repeat=500)
    await timed("20 recent", lambda: traces.recent(limit=20), repeat=100)
    one_session = TraceFilter(session_id="7")
    await timed("20 of a session", lambda: traces.recent(limit=20, where=one_session), repeat=100)
    await catalogue.aclose()
    await traces.aclose()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        given = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
        asyncio.run(measure(Path(folder, "knowledge.sqlite"), given))
