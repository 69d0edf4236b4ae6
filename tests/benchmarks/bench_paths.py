"""What each path adds to a search of one collection: all paths turn by turn, in one run.

The paths are the Milvus adapter (sdk), the VectorStore over the same collection, auto over both,
and auto whose first path is frozen. Run it as a script; it prints milliseconds (median and worst)
and the ratio to sdk for each mode.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import numpy as np

from evidence_lookup.adapters.auto import AutoKnowledge
from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.milvus import MilvusKnowledge, MilvusSettings
from evidence_lookup.adapters.vector_store import VectorStoreKnowledge, VectorStoreSettings
from evidence_lookup.domain.document import Chunk
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.ports.knowledge_search import KnowledgeSearchPort, KnowledgeSearchRequest
from evidence_lookup.ports.knowledge_store import EmbeddedChunk

_FIRST_SECONDS = 0.5


class Frozen:
    """A path that never answers."""

    async def search(self, request: KnowledgeSearchRequest) -> NoReturn:
        """Wait for ever."""
        await asyncio.Event().wait()
        raise AssertionError

    async def probe(self) -> NoReturn:
        """Wait for ever."""
        await asyncio.Event().wait()
        raise AssertionError


def chunks(rows: int, embedder: MemoryEmbedder) -> list[EmbeddedChunk]:
    """*rows* chunks, always the same."""
    random = np.random.default_rng(7)
    vectors = random.standard_normal((rows, embedder.dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    made: list[EmbeddedChunk] = []
    for number, vector in enumerate(vectors):
        text = " ".join(f"word{random.integers(500)}" for _ in range(60))
        document = f"doc-{number // 10}"
        chunk = Chunk(document, number % 10, text, 0, len(text), f"{document}.md", document)
        made.append(EmbeddedChunk(chunk, vector))
    return made


async def spent(path: KnowledgeSearchPort, request: KnowledgeSearchRequest) -> float:
    """The milliseconds of one search."""
    before = time.perf_counter()
    await path.search(request)
    return (time.perf_counter() - before) * 1_000


async def measure(
    paths: Mapping[str, KnowledgeSearchPort], data: list[EmbeddedChunk], times: int
) -> None:
    """Print a line for each mode and path."""
    for mode in SearchMode:
        figures: dict[str, list[float]] = {name: [] for name in paths}
        for number in range(times):
            vector = data[number * 7 % len(data)].vector
            request = KnowledgeSearchRequest(f"word{number} word3", vector, 20, mode)
            for name, path in paths.items():
                figures[name].append(await spent(path, request))
        base = statistics.median(figures["sdk"])
        for name, values in figures.items():
            median = statistics.median(values)
            worst = max(values[times // 10 :])
            print(f"{mode}: {name} {median:.2f} ms, worst {worst:.1f}, x{median / base:.2f}")


async def run(folder: Path, *, rows: int, times: int) -> None:
    """Write the rows, then search them down each path."""
    embedder = MemoryEmbedder(dimension=384)
    milvus = MilvusSettings(str(folder / "bench.db"), timeout_seconds=60)
    sdk = MilvusKnowledge(milvus)
    await sdk.prepare(model=embedder.model, dimension=embedder.dimension)
    data = chunks(rows, embedder)
    for start in range(0, rows, 1_000):
        await sdk.upsert(data[start : start + 1_000])
    store = VectorStoreKnowledge(VectorStoreSettings(), milvus=milvus, embedder=embedder)

    def auto(first: KnowledgeSearchPort) -> AutoKnowledge:
        return AutoKnowledge(
            first,
            sdk,
            names=("vectorstore", "milvus"),
            embedder=embedder,
            first_seconds=_FIRST_SECONDS,
            breaker_seconds=5.0,
        )

    healthy, frozen = auto(store), auto(Frozen())
    await measure(
        {"sdk": sdk, "vectorstore": store, "auto": healthy, "auto, first frozen": frozen},
        data,
        times,
    )
    for path in (frozen, healthy, store, sdk):
        await path.aclose()


def main() -> None:
    """Read the sizes and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--times", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder), rows=given.rows, times=given.times))


if __name__ == "__main__":
    main()
