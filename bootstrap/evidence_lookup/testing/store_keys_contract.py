"""Which rows a write and a delete meet: the ids are other people's texts."""

import pytest
from attrs import evolve

from evidence_lookup.domain.errors import InvalidChunkError
from evidence_lookup.domain.filters import Scope
from evidence_lookup.testing.injections import generated, values
from evidence_lookup.testing.knowledge_contract import Knowledge, KnowledgeContract
from evidence_lookup.testing.knowledge_samples import asked, embedded, foreign


class StoreKeysContract(KnowledgeContract):
    """A document id means that document and no other, whatever it is made of."""

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

    async def test_C28_generated_document_ids(self, knowledge: Knowledge) -> None:
        """Generated ids stand side by side; each write and delete meets its own document alone."""
        names = generated(values, 60)
        await knowledge.upsert([embedded(name, n % 2) for n, name in enumerate(names)])
        left = {f"{name}#chunk-{n % 2}": "text" for n, name in enumerate(names)}
        assert await self.stored(knowledge) == left
        for name in names[:20]:
            await knowledge.replace_document(name, [embedded(name, 5, "new")])
            left = {key: text for key, text in left.items() if key.rpartition("#")[0] != name}
            left[f"{name}#chunk-5"] = "new"
        assert await self.stored(knowledge) == left
        for name in names[10:30]:
            await knowledge.delete_documents([name])
            left = {key: text for key, text in left.items() if key.rpartition("#")[0] != name}
        assert await self.stored(knowledge) == left
        await knowledge.delete_documents(names)
        assert await self.stored(knowledge) == {}

    async def test_C28_deletes_of_generated_ids_do_not_widen(self, knowledge: Knowledge) -> None:
        """Deleting generated ids that are not there removes nothing, alone or in a list."""
        await knowledge.upsert([embedded("kept"), embedded("a b")])
        names = [name for name in generated(values, 100) if name not in ("kept", "a b")]
        for name in names[:50]:
            await knowledge.delete_documents([name])
            await knowledge.replace_document(name, [])
        await knowledge.delete_documents(names)
        assert set(await self.stored(knowledge)) == {"kept#chunk-0", "a b#chunk-0"}

    async def test_look_alike_ids(self, knowledge: Knowledge) -> None:
        """Ids that differ in case, width, accent, blanks or marks are different documents."""
        names = [
            "a", "A", "а", "ａ", "á", "a\u0301", "a ", " a", "a\u200b", "a\u00a0", "a#chunk-0",
            "a#chunk-1", "#chunk-0", "%", "%25", "%27", "'", "a%27", "\u202ea", "0", "00", "-1",
        ]  # fmt: skip
        await knowledge.upsert([embedded(name, 0, f"of {n}") for n, name in enumerate(names)])
        expected = {f"{name}#chunk-0": f"of {n}" for n, name in enumerate(names)}
        assert await self.stored(knowledge) == expected
        for name in names[::2]:
            await knowledge.delete_documents([name])
            del expected[f"{name}#chunk-0"]
            assert await self.stored(knowledge) == expected

    async def test_many_ids_in_one_delete(self, knowledge: Knowledge) -> None:
        """One call takes 3,000 ids, of which most are unknown."""
        await knowledge.upsert([embedded(f"d{n}") for n in range(0, 3_000, 100)])
        await knowledge.delete_documents([f"d{n}" for n in range(1, 3_000)])
        assert set(await self.stored(knowledge)) == {"d0#chunk-0"}

    async def test_long_texts_are_kept_whole_or_refused(self, knowledge: Knowledge) -> None:
        """A text that a field cannot hold is refused with InvalidChunkError, and never cut."""
        long = {
            "content": embedded("a", 0, "x" * 200_000),
            "id": embedded("d" * 5_000),
            "metadata": embedded("b", tenant="x" * 200_000),
        }
        for what, one in long.items():
            try:
                await knowledge.upsert([one])
            except InvalidChunkError:
                assert await self.stored(knowledge) == {}, what
                continue
            stored = await self.stored(knowledge)
            assert stored == {one.chunk.evidence_key: one.chunk.content}, what
            if one.chunk.scope:
                scope = Scope(one.chunk.scope)
                assert len(await self.found(knowledge, asked(scope=scope))) == 1
            await knowledge.delete_documents([one.chunk.doc_id])

    async def test_empty_texts(self, knowledge: Knowledge) -> None:
        """A chunk without content is a chunk, and so is one without any word to find it by."""
        empty = embedded("a", 0, "")
        bare = evolve(embedded("b", 0, "!!!"), chunk=evolve(embedded("b", 0, "").chunk, title=""))
        await knowledge.upsert([empty, bare])
        assert await self.stored(knowledge) == {"a#chunk-0": "", "b#chunk-0": ""}

    async def test_C28_metadata_names_write_nothing_else(self, knowledge: Knowledge) -> None:
        """Metadata that are named like fields or operators change neither content nor id."""
        names = {
            "id": "other", "pk": "other", "_id": "other", "content": "other", "vector": [0, 1],
            "text": "other", "metadata": {"doc_id": "other"}, "__proto__": {"x": 1},
            "$set": {"x": 1}, "_source": {}, "ctx._source": 1, "": "empty name",
        }  # fmt: skip
        one = foreign("d", names)
        await self.write_foreign(knowledge, one)
        (hit,) = (await self.ask(knowledge, asked())).hits
        assert (hit.id, hit.content) == ("d#chunk-0", "text")
        assert dict(hit.metadata) == one.chunk.metadata()
