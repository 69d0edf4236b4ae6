"""What every `Catalogue` promises, as a test suite for its adapters."""

import asyncio
from typing import cast

import anyio
import anyio.to_thread
import pytest

from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.ports.catalogue import Catalogue
from evidence_lookup.testing.samples import entry

_ODD = {
    "chinese": "数据库/连接池",
    "emoji": "👨‍👩‍👧‍👦 😀",
    "quotes": "it's \"quoted\" \\ `'; DROP TABLE document; --",
    "controls": "a\nb\tc\x1f\x7f",
    "nul": "before\0after",
    "lone_surrogate": "caf\udce9.md",
    "decomposed": "e\u0301",
    "composed": "\u00e9",
    "percent": "%s %_ {0} ${x}",
    "line_separator": "a\u2028b",
}


class CatalogueContract:
    """Subclass with a fixture `catalogue` to prove an adapter; all tests start with it EMPTY."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        """The event loop of the asynchronous tests."""
        return "asyncio"

    @pytest.fixture
    async def catalogue(self) -> Catalogue:
        """An EMPTY catalogue; every adapter gives its own."""
        raise NotImplementedError

    async def release(self, catalogue: Catalogue) -> None:
        """Give back what *catalogue* holds; it is used again after. Many hold nothing."""

    async def test_an_empty_catalogue_has_no_entries(self, catalogue: Catalogue) -> None:
        """Nothing is there at the start, and asking for it is no error."""
        assert await catalogue.entries() == ()
        assert await catalogue.get(["guide"]) == {}
        assert await catalogue.get([]) == {}

    async def test_an_entry_comes_back_equal(self, catalogue: Catalogue) -> None:
        """Every attribute is kept, each scope value with its type."""
        full = CatalogueEntry(
            doc_id="guide",
            source="ops/guide.md",
            root="/docs",
            title="Guide",
            category="ops",
            keywords=("retry", "timeout", "retry"),
            entities=("Redis",),
            headings=("Impact", "Overview"),
            language="en",
            scope={"tenant": "acme", "level": 3, "public": True, "version": "3"},
            content_hash="ab" * 32,
            recipe="chunks@1 model@1",
            chunk_count=7,
        )
        bare = CatalogueEntry(doc_id="bare", source="", root="", title="")
        await catalogue.put([full, bare])
        assert await catalogue.entries() == (bare, full)
        found = (await catalogue.get(["guide"]))["guide"]
        assert found == full
        assert [type(value) for value in found.scope.values()] == [str, int, bool, str]

    async def test_entries_are_ordered_by_id(self, catalogue: Catalogue) -> None:
        """The order is that of the ids' characters, whatever the order of writing."""
        ids = ["b", "a", "B", "10", "9", "é", "z", "中", "😀", "\uffff", "\udcff", "a b", "a\0"]
        await catalogue.put([entry(one) for one in ids])
        assert [one.doc_id for one in await catalogue.entries()] == sorted(ids)

    async def test_get_leaves_out_what_is_not_there(self, catalogue: Catalogue) -> None:
        """Unknown ids are absent from the answer, and asking twice gives one."""
        await catalogue.put([entry("a"), entry("b"), entry("c")])
        assert await catalogue.get(["c", "x", "a", "c"]) == {"a": entry("a"), "c": entry("c")}

    async def test_put_writes_over(self, catalogue: Catalogue) -> None:
        """An entry takes the whole place of the one with its id."""
        await catalogue.put([entry("a", keywords=["old"], category="ops"), entry("b")])
        await catalogue.put([entry("a", title="New")])
        assert await catalogue.entries() == (entry("a", title="New"), entry("b"))

    async def test_of_one_id_twice_in_a_batch_the_last_counts(self, catalogue: Catalogue) -> None:
        """A batch is written in its order."""
        await catalogue.put([entry("a", title="first"), entry("b"), entry("a", title="last")])
        assert await catalogue.entries() == (entry("a", title="last"), entry("b"))

    async def test_remove(self, catalogue: Catalogue) -> None:
        """What is removed is gone; an unknown id, or one named twice, is no error."""
        await catalogue.put([entry("a"), entry("b"), entry("c")])
        await catalogue.remove(["a", "x", "c", "a"])
        assert await catalogue.entries() == (entry("b"),)
        await catalogue.remove(["b"])
        await catalogue.remove(["b"])
        assert await catalogue.entries() == ()

    async def test_empty_batches_are_no_work(self, catalogue: Catalogue) -> None:
        """Writing or removing nothing changes nothing, the revision included."""
        before = await catalogue.revision()
        await catalogue.put([])
        await catalogue.remove([])
        await catalogue.remove(["unknown"])
        assert await catalogue.revision() == before

    async def test_the_revision_changes_with_the_entries(self, catalogue: Catalogue) -> None:
        """Every change of an entry gives a revision never seen before; reading gives none."""
        seen = [await catalogue.revision()]
        for title in ("one", "two", "one"):
            await catalogue.put([entry("a", title=title)])
            seen.append(await catalogue.revision())
        await catalogue.remove(["a"])
        seen.append(await catalogue.revision())
        assert len(set(seen)) == len(seen)
        await catalogue.entries()
        await catalogue.get(["a"])
        assert await catalogue.revision() == seen[-1]

    @pytest.mark.parametrize("odd", list(_ODD))
    async def test_any_text_is_kept_as_it_is(self, catalogue: Catalogue, odd: str) -> None:
        """Every text comes back the same, in every place, and finds its entry again."""
        text = _ODD[odd]
        written = CatalogueEntry(
            doc_id=text,
            source=text,
            root=text,
            title=text,
            category=text,
            keywords=(text, ""),
            entities=(text,),
            headings=(text,),
            language=text,
            scope={"tenant": text},
            content_hash=text,
            recipe=text,
        )
        await catalogue.put([entry("other"), written])
        assert await catalogue.get([text]) == {text: written}
        await catalogue.remove([text])
        assert await catalogue.entries() == (entry("other"),)

    async def test_composed_and_decomposed_ids_are_two(self, catalogue: Catalogue) -> None:
        """Ids are compared character by character, without any folding."""
        ids = ["e\u0301", "\u00e9", "A", "a", "a ", "straße", "strasse"]
        await catalogue.put([entry(one) for one in ids])
        assert sorted(await catalogue.get(ids)) == sorted(ids)

    async def test_a_huge_entry_is_kept(self, catalogue: Catalogue) -> None:
        """An entry of several megabytes comes back whole."""
        huge = entry(
            "huge",
            title="标题" * 500_000,
            keywords=[f"keyword {number}" for number in range(50_000)],
        )
        await catalogue.put([huge])
        assert (await catalogue.get(["huge"]))["huge"] == huge

    async def test_many_entries_at_once(self, catalogue: Catalogue) -> None:
        """Batches of thousands are written, found and removed, with unknown ids among them."""
        many = [entry(f"{number:05}") for number in range(5_000)]
        await catalogue.put(many)
        ids = [f"{number:05}" for number in range(6_000)]
        assert list((await catalogue.get(ids)).values()) == many
        await catalogue.remove(ids[1:])
        assert await catalogue.entries() == (many[0],)

    async def test_a_batch_with_a_bad_entry_writes_nothing(self, catalogue: Catalogue) -> None:
        """A batch is written whole or not at all, and the catalogue works on after."""
        await catalogue.put([entry("a", title="before")])
        before = await catalogue.revision()
        bad = [entry("a", title="after"), entry("b"), cast("CatalogueEntry", None), entry("c")]
        with pytest.raises(AttributeError):
            await catalogue.put(bad)
        assert await catalogue.entries() == (entry("a", title="before"),)
        assert await catalogue.revision() == before
        await catalogue.put([entry("b")])
        assert sorted(await catalogue.get(["a", "b"])) == ["a", "b"]

    async def test_batches_are_left_as_they_were(self, catalogue: Catalogue) -> None:
        """What is given is only read, and changing it later changes no entry."""
        batch = [entry("b"), entry("a")]
        await catalogue.put(batch)
        assert batch == [entry("b"), entry("a")]
        ids = ["b", "a"]
        await catalogue.get(ids)
        batch.clear()
        assert ids == ["b", "a"]
        assert await catalogue.entries() == (entry("a"), entry("b"))

    async def test_many_tasks_write_at_once(self, catalogue: Catalogue) -> None:
        """Writes of tasks that run together are all kept, while others read."""

        async def write(number: int) -> None:
            await catalogue.put([entry(f"{number:02}"), entry("shared", chunk_count=number)])
            await catalogue.entries()
            await catalogue.revision()

        async with anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(write, number)
        found = await catalogue.entries()
        assert [one.doc_id for one in found] == [f"{number:02}" for number in range(50)] + [
            "shared"
        ]

    async def test_released_and_used_again(self, catalogue: Catalogue) -> None:
        """What is there stays through `release`, which may be repeated."""
        await catalogue.put([entry("a")])
        await self.release(catalogue)
        await self.release(catalogue)
        assert await catalogue.entries() == (entry("a"),)

    async def test_event_loops_in_turn(self, catalogue: Catalogue) -> None:
        """A catalogue outlives the event loop that it was first used in."""

        async def write(doc_id: str) -> None:
            await catalogue.put([entry(doc_id)])

        async def read() -> list[str]:
            found = [one.doc_id for one in await catalogue.entries()]
            await self.release(catalogue)
            return found

        await anyio.to_thread.run_sync(asyncio.run, write("a"))
        await anyio.to_thread.run_sync(asyncio.run, write("b"))
        assert await anyio.to_thread.run_sync(asyncio.run, read()) == ["a", "b"]
        assert await read() == ["a", "b"]
