"""Files to text."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from attrs import field, frozen


@frozen
class SourceFile:
    """A file below a root. `source` is its path from the root, with ``/`` on every system."""

    root: Path
    source: str

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self.root / self.source


@frozen
class SkippedFile:
    """A file or folder that is not ingested, and why, in one sentence."""

    source: str
    reason: str


class DocumentSource(Protocol):
    """Walks a folder, or names one file."""

    def files(
        self, path: Path, *, include: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> Iterator[SourceFile | SkippedFile]:
        """The files at *path*, ordered by `source`; for a file, that file below its folder.

        *include* and *exclude* are patterns as in ``.gitignore``, matched against `source`; no
        *include* means every file. Hidden and version-control files and folders are passed over;
        a link that leads out of the tree, a folder that cannot be read and anything that is no
        regular file come as `SkippedFile`.

        Raises:
            UnreadableDocumentError: there is nothing at *path*, or it cannot be read.
        """
        ...


@frozen
class ReadDocument:
    """The text of a file and what it says of itself.

    `text` is what offsets count in: the decoded file itself for Markdown and plain text, the
    converted Markdown for html, pdf and docx. `body_start` is where the text proper begins,
    behind the front matter. `id`, `title`, `category` and the lists are the front matter's.
    """

    text: str
    body_start: int = 0
    is_markdown: bool = True
    id: str | None = None
    title: str | None = None
    category: str | None = None
    keywords: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    language: str | None = None
    scope: Mapping[str, str | int | bool] = field(factory=dict[str, str | int | bool])
    warnings: tuple[str, ...] = ()


class DocumentReader(Protocol):
    """Turns the bytes of a file into text."""

    def read(self, data: bytes, *, source: str) -> ReadDocument:
        """The document in *data*; *source* gives the format by its ending.

        Front matter that cannot be used is a warning that names *source*, and the document is read
        all the same. Text that is not UTF-8 is detected, with a warning that names the encoding.

        Raises:
            UnreadableDocumentError: the file is binary, empty, of an unknown format, damaged, or
                in no encoding that can be told.
            MissingExtraError: its format needs a converter that is not installed.
        """
        ...
