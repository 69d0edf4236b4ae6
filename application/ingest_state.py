"""What one ingest knows: the entries before it, and what became of each file."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from attrs import frozen

from evidence_lookup.application.ingest_report import IngestReport
from evidence_lookup.domain.document import CatalogueEntry, Chunk
from evidence_lookup.ports.document_source import SkippedFile, SourceFile


@frozen
class PreparedDocument:
    """A new or changed document, ready to be embedded and written."""

    entry: CatalogueEntry
    chunks: tuple[Chunk, ...]


class IngestState:
    """Which document each file was, and is now; the tally behind the report."""

    def __init__(self, entries: Iterable[CatalogueEntry]) -> None:
        self._by_id = {entry.doc_id: entry for entry in entries}
        self._by_path = {_path(entry): entry for entry in self._by_id.values()}
        self._roots = {Path(entry.root) for entry in self._by_id.values()}
        self._claimed: dict[str, str] = {}
        self._settled: set[Path] = set()
        self._added: list[str] = []
        self._changed: list[str] = []
        self._unchanged: list[str] = []
        self._removed: list[str] = []
        self._skipped: list[SkippedFile] = []
        self._warnings: list[str] = []
        self.chunk_count = 0

    def under_known_root(self, file: SourceFile) -> SourceFile:
        """*file* seen from the nearest root that was ingested before, so that its id stays."""
        above = [root for root in self._roots if file.path.is_relative_to(root)]
        if not above:
            return file
        root = max(above, key=lambda root: len(root.parts))
        return SourceFile(root, file.path.relative_to(root).as_posix())

    def is_unchanged(self, file: SourceFile, content_hash: str, recipe: str) -> bool:
        """Whether the index holds *file* as it is; if so it is settled."""
        entry = self._by_path.get(file.path)
        if (
            entry is None
            or not entry.is_complete
            or (entry.content_hash, entry.recipe, entry.root)
            != (content_hash, recipe, str(file.root))
        ):
            return False
        self._claimed[entry.doc_id] = file.source
        self._settled.add(file.path)
        self._unchanged.append(entry.doc_id)
        return True

    def claim(self, doc_id: str, file: SourceFile) -> str | None:
        """Give *doc_id* to *file*; the other file that holds it already, or None."""
        other = self._claimed.get(doc_id)
        owner = self._by_id.get(doc_id)
        if other is None and owner and self._stands(_path(owner)) and _path(owner) != file.path:
            other = str(_path(owner))
        if other is None:
            self._claimed[doc_id] = file.source
            self._settled.add(file.path)
        return other

    def skip(self, file: SourceFile | SkippedFile, reason: str, *, keep_old: bool = False) -> None:
        """*file* is not ingested; what the index holds of it goes unless *keep_old*."""
        self._skipped.append(SkippedFile(file.source, reason))
        if isinstance(file, SourceFile) and not keep_old:
            self._settled.add(file.path)

    def refuse(self, document: PreparedDocument, reason: str) -> None:
        """The store did not take *document* after all."""
        self._skipped.append(SkippedFile(document.entry.source, reason))
        del self._claimed[document.entry.doc_id]

    def warn(self, warnings: Sequence[str]) -> None:
        """Keep *warnings* for the report."""
        self._warnings.extend(warnings)

    def written(self, document: PreparedDocument) -> None:
        """The index holds *document* now."""
        doc_id = document.entry.doc_id
        before = self._by_id.get(doc_id)
        (self._changed if before and before.is_complete else self._added).append(doc_id)
        self.chunk_count += len(document.chunks)

    def vanished(self, below: Path) -> list[str]:
        """Ids in the index, of files at or below *below*, that no file stands for any more."""
        gone = [
            entry.doc_id
            for entry in self._by_id.values()
            if entry.doc_id not in self._claimed
            and _path(entry).is_relative_to(below)
            and (_path(entry) in self._settled or _is_gone(_path(entry)))
        ]
        self._removed.extend(gone)
        return gone

    def _stands(self, path: Path) -> bool:
        """Whether the file at *path* was not read yet in this run, and is there to be read."""
        return path not in self._settled and not _is_gone(path)

    def report(self, seconds: float) -> IngestReport:
        """The tally."""
        return IngestReport(
            added=tuple(sorted(self._added)),
            changed=tuple(sorted(self._changed)),
            unchanged=tuple(sorted(self._unchanged)),
            removed=tuple(sorted(self._removed)),
            skipped=tuple(self._skipped),
            warnings=tuple(self._warnings),
            chunk_count=self.chunk_count,
            seconds=seconds,
        )


def _path(entry: CatalogueEntry) -> Path:
    return Path(entry.root, entry.source)


def _is_gone(path: Path) -> bool:
    """Whether nothing is at *path*; a place that cannot be looked at is not gone."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
