"""What the Elasticsearch adapter adds to a search: its time against the bare official client.

Run it as a script; it prints milliseconds (median) and the ratio, for each mode. The bare client
asks for the same rows and fields in one request for each list, and does nothing with the answer;
the vectors of keyword hits are among them, since the adapter tells each hit's similarity.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from elasticsearch import AsyncElasticsearch
from tests.benchmarks.bench_milvus import chunks, median

from evidence_lookup.adapters.elasticsearch import ElasticsearchKnowledge, ElasticsearchSettings
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest

_INDEX = "evidence-lookup-benchmark"
_TOP_K = 20


async def run(url: str, *, rows: int, dimension: int, times: int) -> None:
    """Write the rows, then search them both ways, turn by turn."""
    knowledge = ElasticsearchKnowledge(
        ElasticsearchSettings(url, index=_INDEX, timeout_seconds=120)
    )
    await knowledge.drop()
    await knowledge.prepare(model="benchmark", dimension=dimension)
    data = chunks(rows, dimension)
    before = time.perf_counter()
    for start in range(0, rows, 1_000):
        await knowledge.upsert(data[start : start + 1_000])
    print(f"upsert of {rows} rows: {time.perf_counter() - before:.1f} s")
    queries = [one.vector for one in data[:: max(1, rows // 50)]]
    tenant = [{"term": {"filter_terms": 'tenant="t1"'}}]

    async with AsyncElasticsearch(url, request_timeout=120) as client:

        async def bare(body: dict[str, Any]) -> Any:
            source = ["content", "metadata"]
            return await client.search(
                index=_INDEX, body={"size": _TOP_K, "_source": source, **body}
            )

        def dense(*filters: dict[str, Any]) -> Callable[[int], Awaitable[Any]]:
            async def call(number: int) -> Any:
                vector = queries[number % len(queries)].tolist()
                knn = {"field": "vector", "query_vector": vector, "k": _TOP_K,
                       "num_candidates": 400, "filter": list(filters)}  # fmt: skip
                return await bare({"knn": knn})

            return call

        async def words(_: int) -> Any:
            return await bare({"query": {"match": {"keyword_text": "redis timeout"}}})

        async def keyword(_: int) -> Any:
            query = {"match": {"keyword_text": "redis timeout"}}
            return await bare({"query": query, "fields": ["vector"]})

        async def both(number: int) -> Any:
            return await asyncio.gather(dense()(number), keyword(number))

        def adapted(mode: SearchMode, **scope: str) -> Callable[[int], Awaitable[Any]]:
            async def call(number: int) -> Any:
                return await knowledge.search(
                    KnowledgeSearchRequest(
                        "redis timeout", queries[number % len(queries)], _TOP_K, mode, Scope(scope)
                    )
                )

            return call

        for name, raw, own in (
            ("dense", dense(), adapted(SearchMode.DENSE)),
            ("dense, one tenant", dense(*tenant), adapted(SearchMode.DENSE, tenant="t1")),
            ("keyword", keyword, adapted(SearchMode.KEYWORD)),
            ("keyword, vectors left out", words, adapted(SearchMode.KEYWORD)),
            ("hybrid", both, adapted(SearchMode.HYBRID)),
        ):
            ours, theirs = await median(times, own), await median(times, raw)
            print(f"{name}: adapter {ours:.2f} ms, client {theirs:.2f} ms, x{ours / theirs:.2f}")
    await knowledge.drop()
    await knowledge.aclose()


def main() -> None:
    """Read the address and the sizes, and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?", default="http://localhost:9200")
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--times", type=int, default=100)
    given = parser.parse_args()
    asyncio.run(run(given.url, rows=given.rows, dimension=given.dimension, times=given.times))


if __name__ == "__main__":
    main()
