"""What recording costs a lookup, as a share of the lookup without recording.

    python -m tests.benchmarks.bench_recording URL [FOLDER]

URL is a PostgreSQL database; for the store that is down, nobody listens at its address. FOLDER is
ingested into a temporary index (by default the sample handbook). Lookups run one after the other in
blocks, the kinds turn by turn in one run, each first as often as the others; what is delivered
beside a lookup is counted to the kind that recorded it. The median over all blocks is compared.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections import deque
from contextlib import AsyncExitStack
from pathlib import Path
from shutil import copytree

from attrs import evolve
from tests.benchmarks.bench_lookup import HANDBOOK, QUERIES

from evidence_lookup import KnowledgeBase, Settings, open_knowledge_base
from evidence_lookup.adapters.milvus.settings import MilvusSettings
from evidence_lookup.adapters.postgres import migrate
from evidence_lookup.adapters.postgres.settings import PostgresSettings
from evidence_lookup.settings import TraceSettings

BLOCKS, LOOKUPS = 24, 24
DOWN = "PostgreSQL down"
NOBODY = "postgresql://127.0.0.1:9/nobody"


async def run(url: str, folder: Path, data: Path) -> None:
    """Measure every kind of store on one index."""
    server = PostgresSettings(url, schema="bench_recording")
    await migrate(server)
    none = Settings(
        data_dir=data / "ingested",
        milvus=MilvusSettings(str(data / "milvus.db")),
        trace=TraceSettings(enabled=False),
    )
    postgres = evolve(none, trace=TraceSettings(store="postgres"), postgres=server)
    kinds = {
        "without recording": evolve(none, data_dir=data / "none"),
        "SQLite": evolve(none, data_dir=data / "sqlite", trace=TraceSettings()),
        "PostgreSQL up": evolve(postgres, data_dir=data / "up"),
        DOWN: evolve(postgres, data_dir=data / "down", postgres=PostgresSettings(NOBODY)),
    }
    times: dict[str, list[float]] = {name: [] for name in kinds}
    async with open_knowledge_base(none) as base:
        await base.ingest(folder)
    for settings in kinds.values():
        # The same hints for all: they are in the catalogue, a file in the data folder.
        copytree(none.data_dir, settings.data_dir, dirs_exist_ok=True)
    async with AsyncExitStack() as stack:
        bases = {
            name: await stack.enter_async_context(open_knowledge_base(settings))
            for name, settings in kinds.items()
        }
        for base in bases.values():
            await block(base)
        names = deque(bases)
        for _ in range(BLOCKS):
            names.rotate()
            for name in names:
                times[name] += await block(bases[name])
                if name != DOWN:
                    # So that nothing is left to be delivered beside the next kind's lookups.
                    await bases[name].settle_traces()
    bare = statistics.median(times["without recording"])
    for name, seconds in times.items():
        median = statistics.median(seconds)
        late = statistics.quantiles(seconds, n=20)[-1]
        print(
            f"{name:18} median {median * 1e3:6.2f} ms  p95 {late * 1e3:6.2f} ms  "
            f"{(median / bare - 1) * 100:+5.1f} %"
        )


async def block(base: KnowledgeBase) -> list[float]:
    """The seconds of some lookups, one after the other."""
    seconds: list[float] = []
    for number in range(LOOKUPS):
        began = time.perf_counter()
        await base.lookup(QUERIES[number % len(QUERIES)])
        seconds.append(time.perf_counter() - began)
    return seconds


def main() -> None:
    """Read the address and the folder, and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("folder", nargs="?", type=Path, default=HANDBOOK)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        asyncio.run(run(given.url, given.folder, Path(data)))


if __name__ == "__main__":
    main()
