"""What every `KnowledgeStore` promises, as a test suite for its adapters.

Subclass it as `KnowledgeSearchContract`, with the same fixture; the tests read by searching.
"""

import numpy as np
import pytest

from evidence_lookup.domain.errors import (
    CollectionMissingError,
    DimensionMismatchError,
    EmbedderMismatchError,
    InvalidChunkError,
    InvalidVectorError,
)
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.testing.knowledge_contract import Knowledge
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL, asked, embedded, unit
from evidence_lookup.testing.store_keys_contract import StoreKeysContract
from evidence_lookup.testing.store_lifecycle_contract import StoreLifecycleContract


class KnowledgeStoreContract(StoreKeysContract, StoreLifecycleContract):
    """What every knowledge store promises; all tests run on an EMPTY, prepared collection."""

    async def test_prepare_again(self, knowledge: Knowledge) -> None:
        """Preparing what is there keeps it, and says that nothing was made."""
        await knowledge.upsert([embedded("a")])
        assert await knowledge.prepare(model=MODEL, dimension=DIMENSION) is False
        assert await self.stored(knowledge) == {"a#chunk-0": "text"}

    async def test_another_model_is_refused(self, knowledge: Knowledge) -> None:
        """Vectors of two models are never mixed: the error names both, and what to do."""
        with pytest.raises(EmbedderMismatchError, match=r"other@1.*rebuild") as caught:
            await knowledge.prepare(model="other@1", dimension=DIMENSION)
        assert (caught.value.stored, caught.value.configured) == (MODEL, "other@1")

    async def test_C42_another_dimension_is_refused(self, knowledge: Knowledge) -> None:
        """One model with vectors of another length is refused with both numbers."""
        with pytest.raises(DimensionMismatchError, match=r"4 dimensions.*3.*rebuild") as caught:
            await knowledge.prepare(model=MODEL, dimension=3)
        assert (caught.value.expected, caught.value.actual) == (DIMENSION, 3)

    async def test_drop_and_prepare_for_another_model(self, knowledge: Knowledge) -> None:
        """After a drop the collection is made anew, for any model and dimension."""
        await knowledge.upsert([embedded("a")])
        await knowledge.drop()
        assert await knowledge.prepare(model="other@1", dimension=3) is True
        await self.settle(knowledge)
        capabilities = await knowledge.probe()
        assert (capabilities.dimension, capabilities.embedder) == (3, "other@1")
        vector = np.array([1, 0, 0], dtype=np.float32)
        assert (await knowledge.search(asked(vector=vector))).hits == ()

    async def test_writing_where_no_collection_is(self, knowledge: Knowledge) -> None:
        """No write makes a collection, or is lost without a word."""
        await knowledge.drop()
        with pytest.raises(CollectionMissingError):
            await knowledge.upsert([embedded("a")])
        with pytest.raises(CollectionMissingError):
            await knowledge.replace_document("a", [embedded("a")])
        with pytest.raises(CollectionMissingError):
            await knowledge.delete_documents(["a"])

    async def test_C49_read_after_write(self, knowledge: Knowledge) -> None:
        """A search sees what was written just before it, and no longer what was deleted."""
        for n in range(10):
            await knowledge.upsert([embedded(f"d{n}", text=f"word{n}", vector=unit(1, n))])
            request = asked(f"word{n}", vector=unit(1, n), top_k=1)
            await self.settle(knowledge)
            assert [hit.id for hit in (await knowledge.search(request)).hits] == [f"d{n}#chunk-0"]
        await knowledge.delete_documents(["d3"])
        assert "d3#chunk-0" not in await self.stored(knowledge)

    async def test_empty_batches(self, knowledge: Knowledge) -> None:
        """No chunk and no document is no work."""
        await knowledge.upsert([])
        await knowledge.delete_documents([])
        await knowledge.replace_document("unknown", [])
        assert await self.stored(knowledge) == {}

    async def test_C50_upsert_twice_is_one_row(self, knowledge: Knowledge) -> None:
        """Writing a key again replaces its chunk."""
        await knowledge.upsert([embedded("a", 0, "old")])
        await knowledge.upsert([embedded("a", 0, "new")])
        assert await self.stored(knowledge) == {"a#chunk-0": "new"}

    async def test_one_key_twice_in_a_batch(self, knowledge: Knowledge) -> None:
        """Of chunks with one key in a batch the last one stays, alone."""
        await knowledge.upsert([embedded("a", 0, "first"), embedded("a", 0, "last")])
        assert await self.stored(knowledge) == {"a#chunk-0": "last"}

    async def test_C51_large_batch_twice(self, knowledge: Knowledge) -> None:
        """250 chunks of one document are there once each, also after a second run."""
        chunks = [embedded("a", n, f"text {n}") for n in range(250)]
        for _ in range(2):
            await knowledge.upsert(chunks)
            assert len(await self.stored(knowledge)) == 250

    async def test_refused_batch_writes_nothing(self, knowledge: Knowledge) -> None:
        """A batch with one bad vector is refused whole."""
        for value in (0.0, float("nan"), float("inf")):
            bad = embedded("bad", vector=np.full(DIMENSION, value, dtype=np.float32))
            with pytest.raises(InvalidVectorError):
                await knowledge.upsert([embedded("good"), bad])
            with pytest.raises(InvalidVectorError):
                await knowledge.replace_document("bad", [bad])
        with pytest.raises(DimensionMismatchError):
            await knowledge.upsert([embedded("d", vector=np.ones(3, dtype=np.float32))])
        assert await self.stored(knowledge) == {}

    async def test_equal_text_in_two_documents(self, knowledge: Knowledge) -> None:
        """Two documents with one text and one vector are two hits, in every mode."""
        await knowledge.upsert([embedded("a", 3, "Retry after"), embedded("b", 7, "Retry after")])
        await self.settle(knowledge)
        for mode in SearchMode:
            hits = (await knowledge.search(asked("retry", mode=mode))).hits
            assert [hit.id for hit in hits] == ["a#chunk-3", "b#chunk-7"]

    @pytest.mark.parametrize("sizes", [(3, 3), (2, 6), (6, 2), (3, 0), (0, 3)])
    async def test_replace(self, knowledge: Knowledge, sizes: tuple[int, int]) -> None:
        """Replacing leaves the new chunks and nothing else, whether more, fewer or none."""
        await knowledge.upsert([embedded("other", 0, "kept")])
        for version, size in enumerate(sizes):
            chunks = [embedded("a", n, f"v{version} {n}") for n in range(size)]
            await knowledge.replace_document("a", chunks)
        expected = {f"a#chunk-{n}": f"v1 {n}" for n in range(sizes[1])}
        assert await self.stored(knowledge) == {**expected, "other#chunk-0": "kept"}

    async def test_replaced_chunks_can_be_upserted(self, knowledge: Knowledge) -> None:
        """A single chunk written after a replacement stands beside the others."""
        await knowledge.replace_document("a", [embedded("a", 0, "one"), embedded("a", 1, "two")])
        await knowledge.upsert([embedded("a", 1, "mended")])
        assert await self.stored(knowledge) == {"a#chunk-0": "one", "a#chunk-1": "mended"}

    async def test_replace_with_foreign_chunks(self, knowledge: Knowledge) -> None:
        """Chunks of another document are refused, and nothing is written."""
        with pytest.raises(InvalidChunkError):
            await knowledge.replace_document("a", [embedded("a"), embedded("b")])
        assert await self.stored(knowledge) == {}

    async def test_chunks_are_not_changed(self, knowledge: Knowledge) -> None:
        """Writing leaves the given chunks and vectors as they are."""
        one = embedded("a", vector=unit(1, 2))
        before = one.vector.tolist()
        await knowledge.replace_document("a", [one])
        assert one.vector.tolist() == before
        assert one.chunk == embedded("a").chunk
