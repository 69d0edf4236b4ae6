"""What is indexed."""

from attrs import evolve

from evidence_lookup.domain.document import RESERVED_NAMES, CatalogueEntry, Chunk
from evidence_lookup.domain.identity import identify

CHUNK = Chunk("guide", 3, "Text.", 10, 15, "guide.md", "Guide")


def test_R01_a_stored_chunk_is_identified_by_its_own_metadata() -> None:
    """What the store keeps gives the chunk's key back."""
    assert CHUNK.evidence_key == "guide#chunk-3"
    found = identify(CHUNK.metadata(), hit_id=None, original_rank=1)
    assert found.evidence_key == CHUNK.evidence_key


def test_the_metadata_leaves_out_what_is_absent() -> None:
    """Absent values are no keys; lists are JSON lists."""
    assert CHUNK.metadata() == {
        "doc_id": "guide", "chunk_index": 3, "source": "guide.md", "title": "Guide",
        "start": 10, "end": 15,
    }  # fmt: skip
    full = evolve(
        CHUNK, chunk_index=0, start=0, breadcrumb="Guide > P", category="db", keywords=("k",),
        entities=("e",), language="zh", scope={"tenant": "acme"},
    )  # fmt: skip
    assert full.metadata() == {
        "tenant": "acme", "doc_id": "guide", "chunk_index": 0, "source": "guide.md",
        "title": "Guide", "breadcrumb": "Guide > P", "category": "db", "keywords": ["k"],
        "entities": ["e"], "language": "zh", "start": 0, "end": 15,
    }  # fmt: skip


def test_a_scope_cannot_pose_as_another_chunk() -> None:
    """The product's own names win over a scope's, and are all reserved."""
    posing = evolve(CHUNK, scope={"doc_id": "evil", "chunk_index": 9, "title": "Evil"})
    assert posing.metadata() == CHUNK.metadata()
    assert set(CHUNK.metadata()) < RESERVED_NAMES
    assert {"docId", "chunkIndex"} < RESERVED_NAMES


def test_a_passage_is_the_content_below_where_it_stands() -> None:
    """The breadcrumb stands above the content, or the title where there is none."""
    assert CHUNK.passage == "Guide\n\nText."
    assert evolve(CHUNK, breadcrumb="Guide > P").passage == "Guide > P\n\nText."


def test_an_entry_is_complete_once_its_hash_is_written() -> None:
    """A document that is being written has no hash."""
    entry = CatalogueEntry("guide", "guide.md", "/kb", "Guide")
    assert not entry.is_complete
    assert evolve(entry, content_hash="00").is_complete
