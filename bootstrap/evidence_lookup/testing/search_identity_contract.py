"""Which chunk a hit is (R01 to R03), whatever program wrote its metadata."""

import pytest

from evidence_lookup.domain.hit import KnowledgeSearchHit
from evidence_lookup.domain.identity import Identity, identify
from evidence_lookup.testing.knowledge_contract import Knowledge, KnowledgeContract
from evidence_lookup.testing.knowledge_samples import asked, embedded, foreign


class SearchIdentityContract(KnowledgeContract):
    """A hit comes back with what was stored, and its evidence key can be told from it."""

    async def _only(self, knowledge: Knowledge) -> tuple[KnowledgeSearchHit, Identity]:
        (hit,) = (await self.ask(knowledge, asked())).hits
        return hit, identify(hit.metadata, hit_id=hit.id, original_rank=1)

    async def test_R01_identity(self, knowledge: Knowledge) -> None:
        """A hit's metadata names its document and chunk, with the index as a whole number."""
        await knowledge.upsert([embedded("guide", 12)])
        hit, identity = await self._only(knowledge)
        assert (identity.doc_id, identity.chunk_index) == ("guide", 12)
        assert identity.evidence_key == hit.id == "guide#chunk-12"

    @pytest.mark.parametrize("index", [3, "3", 3.0, "3.0", " 3 "])
    async def test_R01_index_as_number_text_or_float(
        self, knowledge: Knowledge, index: object
    ) -> None:
        """An index that was stored as text or as a float gives the key of the whole number."""
        await self.write_foreign(knowledge, foreign("guide", chunk_index=index))
        hit, identity = await self._only(knowledge)
        assert hit.metadata["chunk_index"] == index
        assert identity.evidence_key == "guide#chunk-3"

    @pytest.mark.parametrize("index", [7, "7", 7.0])
    async def test_R01_names_in_camel_case(self, knowledge: Knowledge, index: object) -> None:
        """``docId`` and ``chunkIndex`` name the chunk as well."""
        names = {"docId": "guide", "chunkIndex": index}
        await self.write_foreign(knowledge, foreign("row", names))
        _, identity = await self._only(knowledge)
        assert identity.evidence_key == "guide#chunk-7"

    async def test_R02_without_an_index(self, knowledge: Knowledge) -> None:
        """Where the index is missing, the store's own id names the hit."""
        await self.write_foreign(knowledge, foreign("guide", chunk_index=None))
        hit, identity = await self._only(knowledge)
        assert hit.id
        assert identity.evidence_key == f"vector:{hit.id}"

    async def test_a_hit_is_what_was_stored(self, knowledge: Knowledge) -> None:
        """Content and metadata come back as they were written, and nothing beside them."""
        one = embedded("d", 3, 'say "hi"\n\\n 麻婆 🙂\t', category="food", tenant="acme", level=3)
        await knowledge.replace_document("d", [one])
        hit, _ = await self._only(knowledge)
        assert hit.content == one.chunk.content
        assert dict(hit.metadata) == one.chunk.metadata()

    async def test_metadata_of_any_shape(self, knowledge: Knowledge) -> None:
        """Lists, objects, floats and null in metadata of others come back as they stand."""
        shapes = {
            "tags": ["a", {"b": [1, 2.5, None]}], "nested": {"$gt": "", "a.b": {"c": True}},
            "ratio": 0.5, "nothing": None, "empty": "", "list": [], "object": {}, "中文": "🙂",
            "a b": 1, "-1": -1, "tenant.keyword": "x", "long": "x" * 5_000,
        }  # fmt: skip
        one = foreign("d", shapes)
        await self.write_foreign(knowledge, one)
        hit, _ = await self._only(knowledge)
        assert dict(hit.metadata) == one.chunk.metadata()
