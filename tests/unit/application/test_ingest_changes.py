"""The index follows the folder: added, unchanged, changed, removed."""

import pytest
from tests.unit.application.shelf import Shelf, long_page, page

from evidence_lookup.domain.errors import UnreadableDocumentError


async def test_new_documents_are_added_with_their_metadata(shelf: Shelf) -> None:
    """Each file becomes an entry and chunks that hold verbatim parts of it."""
    text = page("# Redis\n\nIt fails over.", category="databases", keywords="[redis, sentinel]")
    shelf.write("ops/redis.md", text)
    report = await shelf.ingest()
    assert (report.added, report.chunk_count) == (("ops/redis.md",), 1)
    (entry,) = await shelf.entries()
    assert (entry.title, entry.category, entry.root) == ("Redis", "databases", ".")
    assert (entry.keywords, entry.chunk_count) == (("redis", "sentinel"), 1)
    ((key, (content, metadata)),) = (await shelf.stored()).items()
    assert key == "ops/redis.md#chunk-0"
    assert metadata["source"] == "ops/redis.md"
    assert metadata["breadcrumb"] == "Redis"
    assert text[metadata["start"] : metadata["end"]] == content


async def test_unchanged_documents_cost_no_embedding(shelf: Shelf) -> None:
    """A second run embeds nothing, writes nothing and says so."""
    shelf.write("a.md", page("Alpha"))
    shelf.write("b.txt", "Beta")
    await shelf.ingest()
    before, embedded, revision = (
        await shelf.stored(),
        shelf.embedder.passages,
        await shelf.catalogue.revision(),
    )
    report = await shelf.ingest()
    assert report.unchanged == ("a.md", "b.txt")
    assert report.added == report.changed == report.removed == ()
    assert (shelf.embedder.passages, await shelf.catalogue.revision()) == (embedded, revision)
    assert await shelf.stored() == before


async def test_a_changed_document_is_replaced_under_the_same_keys(shelf: Shelf) -> None:
    """The evidence keys stay, the contents are new, and surplus chunks are gone."""
    shelf.write("a.md", long_page(4))
    await shelf.ingest()
    assert list(await shelf.stored()) == [f"a.md#chunk-{n}" for n in range(4)]
    shelf.write("a.md", long_page(2).replace("Paragraph", "Section"))
    report = await shelf.ingest()
    assert (report.changed, report.chunk_count) == (("a.md",), 2)
    stored = await shelf.stored()
    assert list(stored) == ["a.md#chunk-0", "a.md#chunk-1"]
    assert all("Section" in content for content, _ in stored.values())
    assert (await shelf.entries())[0].chunk_count == 2


async def test_a_vanished_document_is_removed(shelf: Shelf) -> None:
    """What is gone from the folder goes from store and catalogue."""
    shelf.write("a.md", page("Alpha"))
    shelf.write("b.md", page("Beta")).unlink()
    gone = shelf.write("c.md", page("Gamma"))
    await shelf.ingest()
    gone.unlink()
    report = await shelf.ingest()
    assert (report.removed, await shelf.ids()) == (("c.md",), ["a.md"])


async def test_a_folder_that_was_emptied_is_emptied_in_the_index(shelf: Shelf) -> None:
    """No file at all is a valid state, not a mistake."""
    shelf.write("sub/a.md", page("Alpha"))
    await shelf.ingest()
    (shelf.root / "sub/a.md").unlink()
    assert (await shelf.ingest("sub")).removed == ("sub/a.md",)
    assert await shelf.ids() == []


async def test_a_renamed_file_takes_its_content_along(shelf: Shelf) -> None:
    """A path's id changes with the path; an id of its own stays, and is no duplicate."""
    shelf.write("a.md", page("Alpha"))
    shelf.write("b.md", page("Beta", id="beta"))
    await shelf.ingest()
    (shelf.root / "a.md").rename(shelf.root / "z.md")
    (shelf.root / "b.md").rename(shelf.root / "y.md")
    report = await shelf.ingest()
    assert (report.added, report.changed, report.removed) == (("z.md",), ("beta",), ("a.md",))
    assert await shelf.ids() == ["beta", "z.md"]
    assert (await shelf.stored())["beta#chunk-0"][1]["source"] == "y.md"


@pytest.mark.parametrize("now", [b"", b"  \n", b"\x00\x01\xff\xfe\x00binary", b"---\nid: a\n---\n"])
async def test_a_file_that_is_no_longer_text_is_skipped_and_removed(
    shelf: Shelf, now: bytes
) -> None:
    """What the index held of it would no longer be true."""
    shelf.write("a.md", page("Alpha"))
    shelf.write("b.md", page("Beta"))
    await shelf.ingest()
    shelf.write("a.md", now)
    report = await shelf.ingest()
    assert [skipped.source for skipped in report.skipped] == ["a.md"]
    assert (report.removed, await shelf.ids()) == (("a.md",), ["b.md"])


async def test_a_file_that_is_too_large_is_skipped_with_both_figures(shelf: Shelf) -> None:
    """The reason names the size, the limit and the setting."""
    shelf.write("big.md", "x" * 1_001)
    shelf.write("small.md", "y" * 1_000)
    report = await shelf.use_case(max_file_bytes=1_000).ingest(shelf.root)
    (skipped,) = report.skipped
    assert skipped.source == "big.md"
    assert "1,001 bytes, more than ingest.max-file-bytes (1,000)" in skipped.reason
    assert report.added == ("small.md",)


async def test_a_single_file_is_ingested_alone(shelf: Shelf) -> None:
    """Other files of its folder are neither read nor removed."""
    shelf.write("a.md", page("Alpha"))
    shelf.write("b.md", page("Beta"))
    await shelf.ingest()
    shelf.write("a.md", page("Alpha two"))
    shelf.write("c.md", page("Gamma"))
    (shelf.root / "b.md").unlink()
    report = await shelf.ingest("a.md")
    assert (report.changed, report.removed, report.unchanged) == (("a.md",), (), ())
    assert await shelf.ids() == ["a.md", "b.md"]


async def test_nothing_at_the_path_is_an_error_that_changes_nothing(shelf: Shelf) -> None:
    """A mistyped path empties no index, not even with rebuild."""
    shelf.write("a.md", page("Alpha"))
    await shelf.ingest()
    with pytest.raises(UnreadableDocumentError):
        await shelf.ingest("nowhere", rebuild=True)
    assert await shelf.ids() == ["a.md"]


async def test_C51_many_chunks_of_one_document_twice(shelf: Shelf) -> None:
    """250 chunks over several embedding batches: the second run adds and deletes nothing."""
    shelf.write("long.md", long_page(250))
    shelf.write("other.md", page("Other"))
    first = await shelf.ingest()
    assert first.chunk_count == 251
    before = await shelf.stored()
    second = await shelf.ingest()
    assert (second.added, second.changed, second.removed, second.chunk_count) == ((), (), (), 0)
    assert shelf.embedder.passages == 251
    assert await shelf.stored() == before


async def test_another_chunk_size_makes_every_document_changed(shelf: Shelf) -> None:
    """The recipe is part of what "unchanged" means."""
    shelf.write("a.md", long_page(4))
    await shelf.ingest()
    report = await shelf.use_case(max_tokens=400).ingest(shelf.root)
    assert (report.changed, list(await shelf.stored())) == (("a.md",), ["a.md#chunk-0"])


async def test_warnings_of_reading_are_reported(shelf: Shelf) -> None:
    """Front matter that cannot be used is read past, with a warning that names the file."""
    shelf.write("a.md", "---\ntitle: [\n---\nAlpha\n")
    report = await shelf.ingest()
    assert report.added == ("a.md",)
    assert "a.md" in report.warnings[0]
