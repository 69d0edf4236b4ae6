"""Files that cannot be read, chunks that are refused, an index that does not fit."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.unit.application.shelf import FusedKnowledge, Shelf, long_page, page

from evidence_lookup.adapters.documents import FormatReader
from evidence_lookup.adapters.filesystem import FilesystemSource
from evidence_lookup.application.ingest_report import IngestProgress
from evidence_lookup.domain.errors import (
    EmbedderMismatchError,
    InvalidChunkError,
    MissingExtraError,
)
from evidence_lookup.ports.document_source import ReadDocument, SkippedFile, SourceFile
from evidence_lookup.ports.knowledge_store import EmbeddedChunk


class ChangingSource(FilesystemSource):
    """After the walk one file becomes something else."""

    def __init__(self, path: Path, *, folder: bool) -> None:
        self._path = path
        self._folder = folder

    def files(
        self, path: Path, *, include: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> Iterator[SourceFile | SkippedFile]:
        """As the file system, then the change."""
        files = list(super().files(path, include=include, exclude=exclude))
        self._path.unlink()
        if self._folder:
            self._path.mkdir()
        return iter(files)


class BareReader(FormatReader):
    """A reader in an environment without a converter."""

    def read(self, data: bytes, *, source: str) -> ReadDocument:
        """Refuses one document."""
        if source == "a.md":
            raise MissingExtraError("documents", "reading a.md")
        return super().read(data, source=source)


class PickyKnowledge(FusedKnowledge):
    """Refuses chunks that hold a word."""

    async def replace_document(self, doc_id: str, chunks: Sequence[EmbeddedChunk]) -> None:
        """As the store, but for the word."""
        if any("poison" in one.chunk.content for one in chunks):
            raise InvalidChunkError("longer than milvus.content-field")
        await super().replace_document(doc_id, chunks)


async def test_a_file_that_cannot_be_read_keeps_its_old_version(shelf: Shelf) -> None:
    """An error of the disk is no reason to forget what the file said."""
    path = shelf.write("a.md", page("Alpha"))
    await shelf.ingest()
    source = ChangingSource(path, folder=True)
    report = await shelf.use_case(source=source).ingest(shelf.root)
    assert report.skipped == (SkippedFile("a.md", "cannot be read: Is a directory"),)
    assert (report.removed, await shelf.ids()) == ((), ["a.md"])


async def test_a_file_that_vanishes_during_the_walk_is_removed(shelf: Shelf) -> None:
    """It is skipped with its reason, and gone."""
    path = shelf.write("a.md", page("Alpha"))
    await shelf.ingest()
    source = ChangingSource(path, folder=False)
    report = await shelf.use_case(source=source).ingest(shelf.root)
    assert report.skipped[0].reason == "cannot be read: No such file or directory"
    assert (report.removed, await shelf.ids()) == (("a.md",), [])


async def test_a_place_that_cannot_be_looked_at_keeps_its_documents(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that was locked is not a folder that is gone, and ends no ingest."""
    shelf.write("a.md", page("Alpha"))
    locked = shelf.write("locked/b.md", page("Beta"))
    await shelf.ingest()
    look = Path.stat

    def stat(path: Path, *, follow_symlinks: bool = True) -> object:
        if path == locked:
            raise PermissionError(13, "Permission denied")
        return look(path, follow_symlinks=follow_symlinks)

    class Locked(FilesystemSource):
        def files(
            self, path: Path, *, include: Sequence[str] = (), exclude: Sequence[str] = ()
        ) -> Iterator[SourceFile | SkippedFile]:
            yield SourceFile(shelf.root, "a.md")
            yield SkippedFile("locked", "cannot be read: Permission denied")

    monkeypatch.setattr(Path, "stat", stat)
    report = await shelf.use_case(source=Locked()).ingest(shelf.root)
    assert (report.unchanged, report.removed) == (("a.md",), ())
    assert [skipped.source for skipped in report.skipped] == ["locked"]
    assert await shelf.ids() == ["a.md", "locked/b.md"]


async def test_a_missing_converter_keeps_the_old_version(shelf: Shelf) -> None:
    """An ingest in an environment without the extra empties no index."""
    shelf.write("a.md", page("Alpha"))
    shelf.write("b.md", page("Beta"))
    await shelf.ingest()
    shelf.write("a.md", page("Alpha two"))
    report = await shelf.use_case(reader=BareReader()).ingest(shelf.root)
    assert "evidence-lookup[documents]" in report.skipped[0].reason
    assert (report.removed, await shelf.ids()) == ((), ["a.md", "b.md"])
    assert (await shelf.ingest()).changed == ("a.md",)


async def test_a_document_that_the_store_refuses_is_skipped_whole(shelf: Shelf) -> None:
    """The others are written; of the refused one nothing stays, old or new, and no entry."""
    shelf.store = PickyKnowledge(shelf.fuse)
    shelf.write("a.md", page("Alpha"))
    shelf.write("b.md", page("Beta"))
    await shelf.ingest()
    shelf.write("a.md", page("poison"))
    shelf.write("c.md", page("poison too"))
    shelf.write("d.md", page("Delta"))
    for added, removed in ((("d.md",), ("a.md",)), ((), ())):
        report = await shelf.ingest()
        assert (report.added, report.changed, report.removed) == (added, (), removed)
        assert [skipped.source for skipped in report.skipped] == ["a.md", "c.md"]
        assert "longer than" in report.skipped[0].reason
        assert await shelf.ids() == ["b.md", "d.md"]
    shelf.write("a.md", page("Alpha"))
    assert (await shelf.ingest()).added == ("a.md",)


async def test_an_index_of_another_embedder_is_refused_until_it_is_rebuilt(shelf: Shelf) -> None:
    """Nothing is read or written before the mismatch; rebuild starts anew."""
    await shelf.store.prepare(model="other@1", dimension=16)
    shelf.write("a.md", page("Alpha"))
    with pytest.raises(EmbedderMismatchError):
        await shelf.ingest()
    assert shelf.embedder.passages == 0
    report = await shelf.ingest(rebuild=True)
    assert (report.added, (await shelf.store.probe()).embedder) == (
        ("a.md",),
        shelf.embedder.model,
    )


async def test_a_rebuild_forgets_everything_first(shelf: Shelf) -> None:
    """Documents of other folders go too; what stands at the path is added anew."""
    shelf.write("one/a.md", page("Alpha"))
    shelf.write("two/b.md", page("Beta"))
    await shelf.ingest("one")
    await shelf.ingest("two")
    report = await shelf.ingest("two", rebuild=True)
    assert (report.added, report.unchanged) == (("b.md",), ())
    assert await shelf.ids() == ["b.md"]


async def test_progress_never_goes_back_and_ends_at_the_total(shelf: Shelf) -> None:
    """Files done and passages only grow; the last report is complete; skipped files count."""
    for n in range(5):
        shelf.write(f"{n}.md", long_page(30))
    shelf.write("x.bin", b"\x00")
    seen: list[IngestProgress] = []
    report = await shelf.ingest(on_progress=seen.append)
    for figures in ([one.files_done for one in seen], [one.passages for one in seen]):
        assert figures == sorted(figures)
    assert {one.files_total for one in seen} == {6}
    assert (seen[0].files_done, seen[0].source) == (0, "0.md")
    assert (seen[-1].files_done, seen[-1].passages) == (6, report.chunk_count)
    assert len({one.passages for one in seen}) > 2


async def test_an_empty_folder_is_an_empty_index(shelf: Shelf) -> None:
    """Nothing to do is no error, and the collection is made."""
    seen: list[IngestProgress] = []
    report = await shelf.ingest(on_progress=seen.append)
    assert (report.added, report.chunk_count, await shelf.ids()) == ((), 0, [])
    assert (seen[-1].files_done, seen[-1].files_total) == (0, 0)


async def test_a_collection_that_was_wiped_from_outside_is_filled_again(shelf: Shelf) -> None:
    """Where the collection had to be made anew, no document counts as unchanged."""
    shelf.write("a.md", page("Alpha"))
    await shelf.ingest()
    before = await shelf.stored()
    await shelf.store.drop()
    report = await shelf.ingest()
    assert (report.added, report.unchanged) == (("a.md",), ())
    assert await shelf.stored() == before


async def test_an_embedder_that_is_not_installed_ends_the_ingest(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing model is one error that names the extra, not a reason to skip every file."""

    def missing(text: str) -> int:
        raise MissingExtraError("local", "the local embedder")

    shelf.write("a.md", page("Alpha"))
    monkeypatch.setattr(shelf.embedder, "count_tokens", missing)
    with pytest.raises(MissingExtraError, match="local"):
        await shelf.ingest()
