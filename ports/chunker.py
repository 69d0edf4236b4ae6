"""Text to chunks."""

from typing import Protocol

from attrs import frozen

from evidence_lookup.ports.document_source import ReadDocument


@frozen
class TextChunk:
    """A verbatim part: ``document.text[start:end] == content``, below `headings`."""

    content: str
    start: int
    end: int
    headings: tuple[str, ...] = ()


@frozen
class ChunkedDocument:
    """A document's chunks in order; `title` is its first heading of level 1, if any.

    `headings` are all its headings in order, without repeats.
    """

    chunks: tuple[TextChunk, ...]
    title: str | None = None
    headings: tuple[str, ...] = ()


class Chunker(Protocol):
    """Cuts a document where its meaning allows it."""

    @property
    def name(self) -> str:
        """The rule and its sizes in one word; another name means that chunks may differ."""
        ...

    def chunk(self, document: ReadDocument) -> ChunkedDocument:
        """The chunks of *document*, in order, without overlap.

        No chunk is blank or has more tokens than the chunker's size; together they hold every
        character of the body that is not white space. Chunks end at headings, paragraphs, whole
        code blocks or sentences where their size allows it, in this order of preference.
        """
        ...
