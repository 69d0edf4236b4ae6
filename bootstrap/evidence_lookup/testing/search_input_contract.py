"""Limits, vectors and queries at the edges, and collections that are not there."""

import asyncio
from collections.abc import Awaitable, Callable

import anyio
import numpy as np
import pytest

from evidence_lookup.domain.errors import (
    BackendError,
    CollectionMissingError,
    DimensionMismatchError,
    InvalidVectorError,
)
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.testing.knowledge_contract import Knowledge, KnowledgeContract
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL, asked, embedded, unit


class SearchInputContract(KnowledgeContract):
    """What is asked is taken, bounded or refused by the port's rules, never by the driver's."""

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_limits_at_the_edges(self, knowledge: Knowledge, mode: SearchMode) -> None:
        """top_k may be 1, as many as there are, more, or the most the backend takes."""
        await knowledge.upsert([embedded(f"d{n}", vector=unit(1, n)) for n in range(3)])
        most = (await knowledge.probe()).max_top_k
        for top_k, count in ((1, 1), (2, 2), (3, 3), (4, 3), (most - 1, 3), (most, 3)):
            assert len(await self.found(knowledge, asked(top_k=top_k, mode=mode))) == count

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_less_than_one_is_nothing(self, knowledge: Knowledge, mode: SearchMode) -> None:
        """A top_k of 0 or less gives no hits and no error."""
        await knowledge.upsert([embedded("a")])
        for top_k in (0, -1, -(2**40)):
            assert await self.found(knowledge, asked(top_k=top_k, mode=mode)) == []

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_more_than_the_most_is_the_most(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """A top_k above `max_top_k` is taken as that, and is no error."""
        await knowledge.upsert([embedded(f"d{n}", vector=unit(1, n)) for n in range(3)])
        most = (await knowledge.probe()).max_top_k
        for top_k in (most + 1, 10 * most, 2**40):
            found = await self.found(knowledge, asked(top_k=top_k, mode=mode))
            assert found == [f"d{n}#chunk-0" for n in range(3)]

    async def test_a_thousand_hits(self, knowledge: Knowledge) -> None:
        """A search gives 1,000 hits whole and in order, from more rows than that."""
        names = [f"d{n:04}" for n in range(1_050)]
        await knowledge.upsert(
            [embedded(name, vector=unit(1, n / 100)) for n, name in enumerate(names)]
        )
        found = await self.found(knowledge, asked(top_k=1_000))
        assert found == [f"{name}#chunk-0" for name in names[:1_000]]

    @pytest.mark.parametrize("mode", SearchMode)
    @pytest.mark.parametrize("value", [0.0, float("nan"), float("inf"), -float("inf")])
    async def test_C26_vectors_without_direction(
        self, knowledge: Knowledge, value: float, mode: SearchMode
    ) -> None:
        """A zero, NaN or infinite query vector is refused before the backend sees it."""
        vector = np.full(DIMENSION, value, dtype=np.float32)
        with pytest.raises(InvalidVectorError):
            await knowledge.search(asked(vector=vector, mode=mode))

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), 3e38, -3e38])
    async def test_C26_one_bad_number(self, knowledge: Knowledge, value: float) -> None:
        """One number that is no number, or too large to have a length, spoils a vector."""
        await knowledge.upsert([embedded("a")])
        vector = np.array([1, 0, value, 0], dtype=np.float32)
        with pytest.raises(InvalidVectorError):
            await knowledge.search(asked(vector=vector))
        vector = np.full(DIMENSION, 1e-30, dtype=np.float32)
        with pytest.raises(InvalidVectorError):
            await knowledge.search(asked(vector=vector))

    @pytest.mark.parametrize("mode", SearchMode)
    @pytest.mark.parametrize("size", [0, 1, 3, 5, 8])
    async def test_C42_wrong_dimension(
        self, knowledge: Knowledge, size: int, mode: SearchMode
    ) -> None:
        """A query vector of another dimension is refused with both numbers, in every mode."""
        vector = np.ones(size, dtype=np.float32)
        with pytest.raises(DimensionMismatchError, match=rf"{size} dimensions.*4") as caught:
            await knowledge.search(asked(vector=vector, mode=mode))
        assert (caught.value.expected, caught.value.actual) == (DIMENSION, size)

    async def test_C67_missing_collection(self, knowledge: Knowledge) -> None:
        """A collection that is not there is an error of its own, never an empty answer."""
        await knowledge.drop()
        await knowledge.drop()
        for mode in SearchMode:
            with pytest.raises(CollectionMissingError):
                await knowledge.search(asked(mode=mode))
        with pytest.raises(CollectionMissingError):
            await knowledge.probe()
        with pytest.raises(CollectionMissingError):
            await knowledge.upsert([embedded("a")])
        await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        assert await self.found(knowledge, asked()) == []

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_C67_a_collection_that_vanishes(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """One that is dropped elsewhere while it is open is missing, and found when it is back."""
        await knowledge.upsert([embedded("a")])
        assert await self.found(knowledge, asked(mode=mode)) == ["a#chunk-0"]
        await elsewhere(knowledge.drop, knowledge)
        for _ in range(2):
            with pytest.raises(CollectionMissingError):
                await knowledge.search(asked(mode=mode))
        await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        await knowledge.upsert([embedded("b")])
        assert await self.found(knowledge, asked(mode=mode)) == ["b#chunk-0"]

    async def test_C42_a_collection_that_is_made_anew(self, knowledge: Knowledge) -> None:
        """One that is replaced elsewhere by one of another dimension is never searched wrongly."""
        await knowledge.upsert([embedded("a")])
        assert await self.found(knowledge, asked()) == ["a#chunk-0"]

        async def replace() -> None:
            await knowledge.drop()
            await knowledge.prepare(model="other@1", dimension=3)

        await elsewhere(replace, knowledge)
        with pytest.raises((BackendError, DimensionMismatchError)):
            await knowledge.search(asked())
        with pytest.raises(DimensionMismatchError):
            await knowledge.search(asked())
        vector = np.array([1, 0, 0], dtype=np.float32)
        assert await self.found(knowledge, asked(vector=vector)) == []

    async def test_probe(self, knowledge: Knowledge) -> None:
        """The probe tells the dimension and the model of the collection, and its bounds."""
        capabilities = await knowledge.probe()
        assert capabilities.dimension == DIMENSION
        assert capabilities.embedder == MODEL
        assert capabilities.max_top_k >= 1_000
        assert capabilities.max_query_characters >= 1_000
        assert capabilities.path
        assert (await knowledge.search(asked())).path == capabilities.path

    async def test_C54_long_query(self, knowledge: Knowledge) -> None:
        """A query of 50 kB is answered in every mode."""
        await knowledge.upsert([embedded("a", text="redis timeout")])
        words = "".join(f"word{n} " for n in range(5_000))
        for query in ("redis timeout 豆腐 " * 3_000, "redis " + words, "redis" + "x" * 50_000):
            for mode in SearchMode:
                found = await self.found(knowledge, asked(query, mode=mode))
                assert found == ["a#chunk-0"] or (mode is SearchMode.KEYWORD and "xx" in query)

    @pytest.mark.parametrize(
        "query", ['")', "' or 1==1", "a\x00b", "{}[]", "\\", "🙂", "\ud800x", "中" * 9_000]
    )
    async def test_odd_queries(self, knowledge: Knowledge, query: str) -> None:
        """No text of a query is an error, in any mode, and the vector finds what it finds."""
        await knowledge.upsert([embedded("a")])
        for mode in SearchMode:
            found = await self.found(knowledge, asked(query, mode=mode))
            assert found == ["a#chunk-0"] or (mode is SearchMode.KEYWORD and found == [])


async def elsewhere(do: Callable[[], Awaitable[None]], knowledge: Knowledge) -> None:
    """Run *do* in an event loop of another thread, as another program would."""

    async def run() -> None:
        await do()
        await knowledge.aclose()

    await anyio.to_thread.run_sync(lambda: asyncio.run(run()))
