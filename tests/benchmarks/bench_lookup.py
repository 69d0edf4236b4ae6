"""What a lookup costs beside its two unavoidable parts, and what an ingest and a start cost.

    python tests/benchmarks/bench_lookup.py [FOLDER]

FOLDER is ingested into a temporary index (by default the sample handbook). A lookup is compared
with the bare embedding and the bare search of the same query, turn by turn in one run.
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

from evidence_lookup import SearchMode, Settings, open_knowledge_base
from evidence_lookup.container import Container
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.ports.knowledge_search import KnowledgeSearchPort, KnowledgeSearchRequest

HANDBOOK = Path(__file__).parents[1] / "data" / "handbook"
QUERIES = (
    "how far may I enlarge the connection pool?",
    "数据库连接池耗尽怎么办",
    "certificate expired and the renewal is rate limited",
    "主从切换之后应用还在连旧的主节点",
)
ROUNDS = 25


async def seconds(work: Callable[[], Awaitable[Any]]) -> float:
    """How long *work* takes."""
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


async def measure(folder: Path, data: Path) -> None:
    """Ingest *folder* into *data*, then compare lookups with their parts."""
    container = Container(settings=Settings(data_dir=data))
    async with open_knowledge_base(container=container) as knowledge:
        report = await knowledge.ingest(folder)
        rate = report.chunk_count / report.seconds
        print(f"ingest       {report.chunk_count} chunks, {report.seconds:.1f} s, {rate:.1f}/s")
        again = await knowledge.ingest(folder)
        each = again.seconds / max(1, len(again.unchanged)) * 1e3
        print(f"re-ingest    {len(again.unchanged)} unchanged files, {each:.2f} ms each")
        embedder: Embedder = await cast("Any", container.embedder())
        search: KnowledgeSearchPort = await container.search()
        for mode in SearchMode:
            raw: list[float] = []
            whole: list[float] = []
            for _ in range(ROUNDS):
                for query in QUERIES:

                    async def parts(query: str = query, mode: SearchMode = mode) -> None:
                        vector = await embedder.embed_query(query)
                        await search.search(KnowledgeSearchRequest(query, vector, 20, mode))

                    async def lookup(query: str = query, mode: SearchMode = mode) -> None:
                        await knowledge.lookup(query, mode=mode)

                    raw.append(await seconds(parts))
                    whole.append(await seconds(lookup))
            a, b = statistics.median(raw), statistics.median(whole)
            print(
                f"{mode:12} lookup {b * 1e3:.1f} ms, embed + search {a * 1e3:.1f} ms: {b / a:.2f}x"
            )


def start(name: str, *command: str) -> None:
    """The quickest of several runs of *command*, as a whole process."""
    times: list[float] = []
    for _ in range(7):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - began)
    print(f"{name:12} {min(times) * 1e3:.0f} ms")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as data:
        asyncio.run(measure(Path(sys.argv[1]) if len(sys.argv) > 1 else HANDBOOK, Path(data)))
    start("python", sys.executable, "-c", "pass")
    start("import", sys.executable, "-c", "import evidence_lookup")
    start("--help", str(Path(sys.executable).with_name("evidence-lookup")), "--help")
