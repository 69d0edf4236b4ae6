"""A read and chunked document becomes chunks of evidence and a catalogue entry."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from attrs import field, frozen

from evidence_lookup.domain.document import RESERVED_NAMES, CatalogueEntry, Chunk
from evidence_lookup.domain.errors import ScopeError
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.text import normalise
from evidence_lookup.ports.chunker import ChunkedDocument, TextChunk
from evidence_lookup.ports.document_source import ReadDocument, SourceFile


def _checked(scope: Mapping[str, str | int | bool]) -> dict[str, str | int | bool]:
    for name, value in scope.items():
        if name in RESERVED_NAMES:
            raise ScopeError(f"scope name {name!r} is not allowed: documents say it of themselves")
        if not _is_one(value):
            raise ScopeError(f"scope value {name!r} must be text, a whole number or a boolean")
    Scope(scope)
    return dict(scope)


def _is_one(value: object) -> bool:
    return isinstance(value, str | int)


@frozen
class DocumentDefaults:
    """What the caller of an ingest says of its documents.

    `prefix` stands before ids made of paths. `scope` is put on every chunk; front matter may add
    to it, never change it. With `category_from_folder` a document without a category takes the
    name of its first folder.

    Raises:
        ScopeError: a name or value of the scope is malformed, or the name is the product's own.
    """

    prefix: str = ""
    scope: Mapping[str, str | int | bool] = field(
        factory=dict[str, str | int | bool], converter=_checked
    )
    category_from_folder: bool = False

    @property
    def fingerprint(self) -> str:
        """What of these defaults a chunk depends on, in one line; empty for none."""
        named = [("prefix", self.prefix)] if self.prefix else []
        named += [("category", "folder")] if self.category_from_folder else []
        return " ".join(
            f"{name}={value!r}" for name, value in [*named, *sorted(self.scope.items())]
        )

    def doc_id(self, document: ReadDocument, source: str) -> str:
        """The front matter's id, else the path from the root, which a re-ingest gives again."""
        return document.id or f"{self.prefix}{source}"

    def category(self, document: ReadDocument, source: str) -> str | None:
        """The front matter's category, else the folder's name where that is asked for."""
        if document.category or not self.category_from_folder:
            return document.category
        folder, *rest = PurePosixPath(source).parts
        return folder if rest else None


def build_document(
    file: SourceFile,
    document: ReadDocument,
    chunked: ChunkedDocument,
    defaults: DocumentDefaults,
    *,
    content_hash: str,
    recipe: str,
) -> tuple[CatalogueEntry, tuple[Chunk, ...]]:
    """The complete entry of a document, and its chunks in order."""
    title = document.title or chunked.title or PurePosixPath(file.source).stem
    entry = CatalogueEntry(
        doc_id=defaults.doc_id(document, file.source),
        source=file.source,
        root=str(file.root),
        title=title,
        category=defaults.category(document, file.source),
        keywords=document.keywords,
        entities=document.entities,
        headings=chunked.headings,
        language=document.language,
        scope={**document.scope, **defaults.scope},
        content_hash=content_hash,
        recipe=recipe,
        chunk_count=len(chunked.chunks),
    )
    chunks = (_chunk(entry, index, chunk) for index, chunk in enumerate(chunked.chunks))
    return entry, tuple(chunks)


def _chunk(entry: CatalogueEntry, index: int, chunk: TextChunk) -> Chunk:
    return Chunk(
        doc_id=entry.doc_id,
        chunk_index=index,
        content=chunk.content,
        start=chunk.start,
        end=chunk.end,
        source=entry.source,
        title=entry.title,
        breadcrumb=breadcrumb(entry.title, chunk.headings),
        category=entry.category,
        keywords=entry.keywords,
        entities=entry.entities,
        language=entry.language,
        scope=entry.scope,
    )


def breadcrumb(title: str, headings: tuple[str, ...]) -> str:
    """``Title > Heading > …``; a first heading that only repeats the title is left out."""
    if headings and normalise(headings[0]) == normalise(title):
        headings = headings[1:]
    return " > ".join((title, *headings))
