"""What the Milvus adapter adds to a search: its time against plain pymilvus on the same data.

Run it as a script; it prints milliseconds (median) and the ratio, for each mode.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np

from evidence_lookup.adapters.milvus import MilvusKnowledge, MilvusSettings
from evidence_lookup.adapters.milvus.driver import pymilvus
from evidence_lookup.domain.document import Chunk
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest
from evidence_lookup.ports.knowledge_store import EmbeddedChunk

_WORDS = ["redis", "timeout", "pool", "proxy", "cache", "豆腐", "连接池", "배포", "queue", "retry"]


def chunks(rows: int, dimension: int) -> list[EmbeddedChunk]:
    """*rows* chunks of about 400 characters, always the same."""
    random = np.random.default_rng(7)
    vectors = random.standard_normal((rows, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    made: list[EmbeddedChunk] = []
    for number, vector in enumerate(vectors):
        text = " ".join(random.choice(_WORDS, 60)) + f" item{number}"
        chunk = Chunk(
            doc_id=f"doc-{number // 10}",
            chunk_index=number % 10,
            content=text,
            start=0,
            end=len(text),
            source=f"doc-{number // 10}.md",
            title=f"Document {number // 10}",
            scope={"tenant": f"t{number % 4}"},
        )
        made.append(EmbeddedChunk(chunk, vector))
    return made


async def median(times: int, call: Callable[[int], Awaitable[Any]]) -> float:
    """The median time of one call in milliseconds, after ten to warm up."""
    for number in range(10):
        await call(number)
    spent: list[float] = []
    for number in range(times):
        before = time.perf_counter()
        await call(number)
        spent.append((time.perf_counter() - before) * 1_000)
    return statistics.median(spent)


async def run(path: Path, *, rows: int, dimension: int, times: int) -> None:
    """Write the rows, then search them both ways."""
    knowledge = MilvusKnowledge(MilvusSettings(str(path), timeout_seconds=60))
    await knowledge.prepare(model="benchmark", dimension=dimension)
    data = chunks(rows, dimension)
    before = time.perf_counter()
    for start in range(0, rows, 1_000):
        await knowledge.upsert(data[start : start + 1_000])
    print(f"upsert of {rows} rows: {time.perf_counter() - before:.1f} s")
    client = pymilvus().AsyncMilvusClient(str(path), dedicated=True)
    queries = [one.vector for one in data[:: max(1, rows // 50)]]
    fields = ["content", "metadata"]
    tenant = 'metadata["tenant"] == "t1"'

    def plain(field: str, filter: str = "") -> Callable[[int], Awaitable[Any]]:
        async def call(number: int) -> Any:
            vector = queries[number % len(queries)].tolist()
            asked = [vector] if field == "vector" else ["redis timeout"]
            return await client.search(
                "knowledge", data=asked, anns_field=field, filter=filter, limit=20,
                output_fields=fields, consistency_level="Strong", timeout=60,
            )  # fmt: skip

        return call

    async def both(number: int) -> Any:
        return await asyncio.gather(plain("vector")(number), plain("sparse")(number))

    def adapted(mode: SearchMode, **scope: str) -> Callable[[int], Awaitable[Any]]:
        async def call(number: int) -> Any:
            return await knowledge.search(
                KnowledgeSearchRequest(
                    "redis timeout", queries[number % len(queries)], 20, mode, Scope(scope)
                )
            )

        return call

    for name, raw, own in (
        ("dense", plain("vector"), adapted(SearchMode.DENSE)),
        ("dense, one tenant", plain("vector", tenant), adapted(SearchMode.DENSE, tenant="t1")),
        ("keyword", plain("sparse"), adapted(SearchMode.KEYWORD)),
        ("hybrid", both, adapted(SearchMode.HYBRID)),
    ):
        ours, theirs = await median(times, own), await median(times, raw)
        print(f"{name}: adapter {ours:.2f} ms, pymilvus {theirs:.2f} ms, x{ours / theirs:.2f}")
    await client.close()
    await knowledge.aclose()


def main() -> None:
    """Read the sizes and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--times", type=int, default=100)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(
            run(
                Path(folder) / "bench.db",
                rows=given.rows,
                dimension=given.dimension,
                times=given.times,
            )
        )


if __name__ == "__main__":
    main()
