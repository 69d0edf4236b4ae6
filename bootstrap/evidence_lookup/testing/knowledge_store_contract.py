"""What every `KnowledgeStore` promises, as a test suite for its adapters."""

import asyncio
from collections import Counter

import numpy as np
import pytest

from evidence_lookup.domain.errors import (
    CollectionMissingError,
    DimensionMismatchError,
    EmbedderMismatchError,
    InvalidChunkError,
    InvalidVectorError,
)
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL, asked, embedded, unit
from evidence_lookup.testing.knowledge_search_contract import Knowledge


class KnowledgeStoreContract:
    """What every knowledge store promises; all tests run on an EMPTY, prepared collection."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        """The event loop of the asynchronous tests."""
        return "asyncio"

    @pytest.fixture
    async def knowledge(self) -> Knowledge:
        """An EMPTY collection of `DIMENSION`, prepared for `MODEL`; every adapter gives its own."""
        raise NotImplementedError

    async def settle(self, knowledge: Knowledge) -> None:
        """Wait until writes can be read; most adapters need not."""

    async def stored(self, knowledge: Knowledge) -> dict[str, str]:
        """Every chunk's key and content."""
        await self.settle(knowledge)
        hits = (await knowledge.search(asked(top_k=1_000))).hits
        keys = [str(hit.id) for hit in hits]
        assert len(keys) == len(set(keys)), "a key is stored twice"
        return {str(hit.id): hit.content for hit in hits}

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

    async def test_delete_is_exact(self, knowledge: Knowledge) -> None:
        """Deleting removes all of a document and nothing of others; unknown ids are no error."""
        names = ["a", "aa", "a#chunk-0", "A", "a ", 'a"', "a' or 1 == 1", "a%27", "%"]
        await knowledge.upsert([embedded(name, n) for name in names for n in range(2)])
        await knowledge.delete_documents(["a", "unknown", 'x" or doc_id != "', "new\nline", ""])
        await knowledge.delete_documents(["a"])
        left = set(await self.stored(knowledge))
        assert left == {f"{name}#chunk-{n}" for name in names if name != "a" for n in range(2)}

    @pytest.mark.parametrize(
        "name", ['q"uote', "a'b", "back\\slash", "中文", "🙂", "a b/c.md", "%"]
    )
    async def test_odd_document_ids(self, knowledge: Knowledge, name: str) -> None:
        """Any printable id can be written, replaced and deleted."""
        await knowledge.upsert([embedded(name, n) for n in range(3)])
        await knowledge.replace_document(name, [embedded(name, 0, "new")])
        assert await self.stored(knowledge) == {f"{name}#chunk-0": "new"}
        await knowledge.delete_documents([name])
        assert await self.stored(knowledge) == {}

    @pytest.mark.parametrize("name", ["d" * 60, "guide/" * 30 + "x.md", "文" * 200])
    async def test_C44_long_document_ids(self, knowledge: Knowledge, name: str) -> None:
        """Ids of 60 and more characters, and of 200 CJK characters, are kept whole."""
        await knowledge.upsert([embedded(name, 12)])
        assert await self.stored(knowledge) == {f"{name}#chunk-12": "text"}

    async def test_control_characters_in_ids(self, knowledge: Knowledge) -> None:
        """An id that no filter could name again is refused at the door."""
        for name in ("new\nline", "nul\x00", "\ud800"):
            with pytest.raises(InvalidChunkError):
                await knowledge.upsert([embedded("good"), embedded(name)])
        with pytest.raises(InvalidChunkError):
            await knowledge.upsert([embedded("good"), embedded("a", 0, "\ud800")])
        assert await self.stored(knowledge) == {}

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

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_replace_is_one_visible_step(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """Searches during replacements see one version whole: never a mix, never nothing."""
        sizes = (9, 4)

        async def put(version: int) -> None:
            size = sizes[version % 2]
            await knowledge.replace_document(
                "a", [embedded("a", n, f"word v{version}", tenant="acme") for n in range(size)]
            )

        await put(0)
        await self.settle(knowledge)
        seen: Counter[tuple[int, int]] = Counter()
        stop = asyncio.Event()

        async def watch() -> None:
            request = asked("word", mode=mode, top_k=50, scope=Scope({"tenant": "acme"}))
            while not stop.is_set():
                hits = (await knowledge.search(request)).hits
                versions = {int(hit.content.split("v")[1]) for hit in hits}
                assert len(versions) == 1, versions
                seen[versions.pop() % 2, len(hits)] += 1
                await asyncio.sleep(0)

        watchers = [asyncio.create_task(watch()) for _ in range(3)]
        for version in range(1, 25):
            await put(version)
            await asyncio.sleep(0.003)
        stop.set()
        await asyncio.gather(*watchers)
        assert set(seen) <= {(0, sizes[0]), (1, sizes[1])}
        assert sum(seen.values()) >= 5

    async def test_cancelled_replace_can_be_run_again(self, knowledge: Knowledge) -> None:
        """A replacement that is cancelled shows the old or the new version, and can be repeated."""
        old = [embedded("a", n, "old") for n in range(5)]
        new = [embedded("a", n, "new") for n in range(2)]
        for delay in (0, 0.001, 0.005):
            await knowledge.replace_document("a", old)
            task = asyncio.create_task(knowledge.replace_document("a", new))
            await asyncio.sleep(delay)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert len(set((await self.stored(knowledge)).values())) == 1
            await knowledge.replace_document("a", new)
            assert await self.stored(knowledge) == {"a#chunk-0": "new", "a#chunk-1": "new"}

    async def test_two_writers(self, knowledge: Knowledge) -> None:
        """Writers at once lose nothing."""
        await asyncio.gather(
            *(
                knowledge.replace_document(f"d{n}", [embedded(f"d{n}", i) for i in range(3)])
                for n in range(10)
            )
        )
        assert len(await self.stored(knowledge)) == 30

    async def test_chunks_are_not_changed(self, knowledge: Knowledge) -> None:
        """Writing leaves the given chunks and vectors as they are."""
        one = embedded("a", vector=unit(1, 2))
        before = one.vector.tolist()
        await knowledge.replace_document("a", [one])
        assert one.vector.tolist() == before
        assert one.chunk == embedded("a").chunk
