"""The document source that walks a folder."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from evidence_lookup.adapters.filesystem.patterns import Patterns
from evidence_lookup.adapters.filesystem.walk import Walk, name_fault, printable
from evidence_lookup.domain.errors import UnreadableDocumentError
from evidence_lookup.ports.document_source import SkippedFile, SourceFile


class FilesystemSource:
    """Walks folders of this machine.

    Passed over are names that begin with a dot, ``CVS``, ``__pycache__`` and ``node_modules``,
    but never the path that is named itself. A link is followed only to a place in the tree that
    is not reached without it, for instance a hidden folder, as in volumes that a cluster mounts;
    the same file never comes twice. A name that is not UTF-8 or holds control characters comes as
    `SkippedFile`, with such characters escaped.
    """

    def files(
        self, path: Path, *, include: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> Iterator[SourceFile | SkippedFile]:
        """The files at *path*, ordered by `source`; for a file, that file below its folder.

        Raises:
            UnreadableDocumentError: there is nothing at *path*, or it cannot be read.
            SettingsError: a pattern is malformed.
        """
        patterns = Patterns(include, exclude)
        # Not resolved: a mounted folder may be a link that is replaced with every update.
        place = path.resolve() if ".." in path.parts else path.absolute()
        try:
            is_folder = place.is_dir()
            if is_folder:
                next(place.iterdir(), None)
            place.stat()
        except (OSError, ValueError) as error:
            raise UnreadableDocumentError(f"{printable(str(path))}: {_reason(error)}") from error
        if name_fault(str(place if is_folder else place.parent)) is not None:
            raise UnreadableDocumentError(f"{printable(str(place))}: the path is not plain UTF-8")
        if is_folder:
            return iter(sorted(Walk(place, patterns).run(), key=lambda found: found.source))
        if not place.is_file():
            raise UnreadableDocumentError(f"{printable(str(path))}: not a regular file")
        return _single(place, patterns)


def _single(path: Path, patterns: Patterns) -> Iterator[SourceFile | SkippedFile]:
    fault = name_fault(path.name)
    if fault is not None:
        yield SkippedFile(printable(path.name), fault)
    elif patterns.wants_file(path.name):
        yield SourceFile(root=path.parent, source=path.name)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
