"""How long PostgreSQL and SQLite take for the same records, turn by turn, in one run.

Run ``python -m tests.benchmarks.bench_postgres [rows]``. The server is that of
``EVIDENCE_LOOKUP_TEST_POSTGRES_URL``, or one that is started in a container. Printed are medians
in milliseconds; both stores hold the same records, with five evidence blocks each.
"""

import argparse
import asyncio
import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import evolve
from tests.integration.conftest import POSTGRES
from tests.postgres_schema import fresh_schema
from tests.servers import Server, engine, running_elsewhere, started

from evidence_lookup.adapters.postgres import (
    PostgresCatalogue,
    PostgresSettings,
    PostgresTraces,
    migrate,
)
from evidence_lookup.adapters.sqlite import SqliteCatalogue, SqliteTraces
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.trace_filter import TraceFilter
from evidence_lookup.testing.samples import block, entry, invocation, result

Work = Callable[[Any, Any], Coroutine[Any, Any, object]]
_numbers = itertools.count()


def record() -> ToolInvocation:
    """The next record: of one of 500 sessions, with keys that every 700th record has."""
    number = next(_numbers)
    blocks = [block(f"doc {number % 700}#chunk-{place}", "text " * 60) for place in range(5)]
    found = result(invocation_id=f"{number:012}", blocks=blocks)
    made = invocation(of=found, session_id=f"session {number % 500}")
    return evolve(made, query=f"{made.query} {number}")


async def measure(postgres: PostgresSettings, path: Path, rows: int) -> None:
    """Fill both stores with *rows* records, then ask both."""
    await migrate(postgres)
    stores: dict[str, tuple[Any, Any]] = {
        "postgres": (PostgresTraces(postgres), PostgresCatalogue(postgres)),
        "sqlite": (SqliteTraces(path), SqliteCatalogue(path)),
    }
    for _ in range(0, rows, 100):
        batch = [record() for _ in range(100)]
        for traces, _ in stores.values():
            await traces.record(batch)

    async def compared(what: str, work: Work, *, times: int = 100) -> None:
        taken: dict[str, list[float]] = {name: [] for name in stores}
        for _ in range(times):
            for name, (traces, catalogue) in stores.items():
                begin = time.perf_counter()
                await work(traces, catalogue)
                taken[name].append(time.perf_counter() - begin)
        first, second = (statistics.median(one) * 1e3 for one in taken.values())
        print(f"{what:32}{first:10.2f}{second:10.2f}")

    session, key = TraceFilter(session_id="session 7"), TraceFilter(evidence_key="doc 7#chunk-3")
    entries = [entry(f"doc {number}", keywords=("retry",)) for number in range(1_000)]
    print(f"{f'{rows} records, ms':32}{'postgres':>10}{'sqlite':>10}")
    await compared("record one", lambda traces, _: traces.record([record()]))
    await compared(
        "record 100", lambda traces, _: traces.record([record() for _ in range(100)]), times=10
    )
    await compared("get", lambda traces, _: traces.get("000000005000"))
    await compared("recent 20", lambda traces, _: traces.recent(limit=20))
    await compared("20 of a session", lambda traces, _: traces.recent(limit=20, where=session))
    await compared("by evidence key", lambda traces, _: traces.recent(limit=20, where=key))
    await compared("summaries of 1,000", lambda traces, _: traces.summaries(limit=1_000), times=5)
    await compared("put 1,000 entries", lambda _, catalogue: catalogue.put(entries), times=5)
    await compared("put one entry", lambda _, catalogue: catalogue.put(entries[:1]))
    await compared("1,000 entries", lambda _, catalogue: catalogue.entries(), times=10)
    await compared("revision", lambda _, catalogue: catalogue.revision())
    for both in stores.values():
        for one in both:
            await one.aclose()


@contextmanager
def server() -> Generator[Server, None, None]:
    """The one that the environment names, or a new one."""
    elsewhere = running_elsewhere(POSTGRES)
    if elsewhere is not None:
        yield elsewhere
        return
    from testcontainers.core.network import Network

    with Network() as network, started(POSTGRES, engine(), network) as own:
        yield own


def main() -> None:
    """Read the number of records, and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=10_000)
    given = parser.parse_args()
    with (
        server() as one,
        fresh_schema(one, timeout_seconds=60) as postgres,
        tempfile.TemporaryDirectory() as folder,
    ):
        asyncio.run(measure(postgres, Path(folder, "records.db"), given.rows))


if __name__ == "__main__":
    main()
