"""How fast the local embedder is: python tests/benchmarks/bench_embedder.py [--threads 2]."""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

import anyio
import numpy as np

from evidence_lookup.adapters.local_embedder import LocalEmbedder

_SENTENCE = "When the connection pool is exhausted, drain the node, then restart the proxy. "
_QUESTION = "How do I restart the proxy after the pool is exhausted?"


async def passages_per_second(embedder: LocalEmbedder, *, count: int) -> float:
    """Passages of about 300 tokens embedded in a second, best of three rounds."""
    repeats = 300 // embedder.count_tokens(_SENTENCE)
    rates: list[float] = []
    for _ in range(3):
        start = time.perf_counter()
        await embedder.embed_passages([_SENTENCE * repeats] * count)
        rates.append(count / (time.perf_counter() - start))
    return max(rates)


async def query_milliseconds(embedder: LocalEmbedder, *, count: int) -> tuple[float, float]:
    """The 50th and 95th percentile of a question's time."""
    times: list[float] = []
    for _ in range(count):
        start = time.perf_counter()
        await embedder.embed_query(_QUESTION)
        times.append(1000 * (time.perf_counter() - start))
    return float(np.percentile(times, 50)), float(np.percentile(times, 95))


async def query_milliseconds_beside_passages(embedder: LocalEmbedder) -> tuple[float, float]:
    """The same while a large batch of passages is embedded."""
    result = (0.0, 0.0)
    async with anyio.create_task_group() as group:
        group.start_soon(embedder.embed_passages, [_SENTENCE * 18] * 1000)
        await anyio.sleep(0.2)
        result = await query_milliseconds(embedder, count=50)
        group.cancel_scope.cancel()
    return result


def characters_counted_per_second(embedder: LocalEmbedder) -> float:
    """Characters read in a second by counting short texts."""
    texts = [f"{_SENTENCE} {number}" for number in range(5000)]
    start = time.perf_counter()
    for text in texts:
        embedder.count_tokens(text)
    return sum(map(len, texts)) / (time.perf_counter() - start)


async def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    threads: int = parser.parse_args().threads
    with tempfile.TemporaryDirectory() as folder:
        for start in ("without a cached graph", "with a cached graph"):
            embedder = LocalEmbedder(cache_folder=Path(folder), threads=threads)
            begin = time.perf_counter()
            await embedder.embed_query("warm")
            print(f"first query {start}: {time.perf_counter() - begin:.1f} s")
        rate = await passages_per_second(embedder, count=20)
        print(f"passages of 300 tokens: {rate:.1f} a second")
        median, late = await query_milliseconds(embedder, count=200)
        print(f"query: p50 {median:.1f} ms, p95 {late:.1f} ms")
        median, late = await query_milliseconds_beside_passages(embedder)
        print(f"query beside passages: p50 {median:.1f} ms, p95 {late:.1f} ms")
        print(f"counting: {characters_counted_per_second(embedder) / 1e6:.2f} million characters/s")


if __name__ == "__main__":
    asyncio.run(main())
