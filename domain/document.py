"""What is indexed: documents in the catalogue, chunks in the store."""

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from evidence_lookup.domain.identity import evidence_key

RESERVED_NAMES = frozenset(
    {
        "doc_id", "chunk_index", "docId", "chunkIndex", "source", "title", "breadcrumb",
        "category", "keywords", "entities", "language", "start", "end",
    }
)  # fmt: skip
"""Metadata names that the product writes; a document's scope cannot use them."""


@frozen
class Chunk:
    """A verbatim part of a document: ``text_of_document[start:end] == content``, in characters."""

    doc_id: str
    chunk_index: int
    content: str
    start: int
    end: int
    source: str
    title: str
    breadcrumb: str | None = None
    category: str | None = None
    keywords: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    language: str | None = None
    scope: Mapping[str, str | int | bool] = field(factory=dict[str, str | int | bool])

    @property
    def evidence_key(self) -> str:
        """The key that names this chunk everywhere, and its primary key in a store."""
        return evidence_key(self.doc_id, self.chunk_index)

    @property
    def passage(self) -> str:
        """What is embedded and searched by words: the content below where it stands.

        The breadcrumb starts with the title; a chunk deep in a page is found by both.
        """
        return f"{self.breadcrumb or self.title}\n\n{self.content}"

    def metadata(self) -> dict[str, Any]:
        """The JSON object that a store keeps beside the content, without absent values."""
        named = {
            "doc_id": self.doc_id,
            "chunk_index": self.chunk_index,
            "source": self.source,
            "title": self.title,
            "breadcrumb": self.breadcrumb,
            "category": self.category,
            "keywords": list(self.keywords) or None,
            "entities": list(self.entities) or None,
            "language": self.language,
            "start": self.start,
            "end": self.end,
        }
        return {**self.scope, **{name: value for name, value in named.items() if value is not None}}


@frozen
class CatalogueEntry:
    """One indexed document.

    `root` and `source` say where it was read: the folder that was ingested, and the path below
    it. `content_hash` is the SHA-256 of the file in hexadecimal, and `recipe` names the chunking
    and the embedder; both are empty while the document is being written, so that an interrupted
    ingest is seen and finished by the next one.
    """

    doc_id: str
    source: str
    root: str
    title: str
    category: str | None = None
    keywords: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    language: str | None = None
    scope: Mapping[str, str | int | bool] = field(factory=dict[str, str | int | bool])
    content_hash: str = ""
    recipe: str = ""
    chunk_count: int = 0

    def metadata(self) -> dict[str, str | int | bool]:
        """What the metadata of each of its chunks says of the document, lists left out."""
        named = {
            "doc_id": self.doc_id,
            "source": self.source,
            "title": self.title,
            "category": self.category,
            "language": self.language,
        }
        return {**self.scope, **{name: value for name, value in named.items() if value is not None}}

    @property
    def is_complete(self) -> bool:
        """Whether the store holds this document whole."""
        return bool(self.content_hash)
