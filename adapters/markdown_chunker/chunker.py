"""The chunker for Markdown and plain text."""

import re
from collections.abc import Callable
from itertools import groupby
from operator import attrgetter

from evidence_lookup.adapters.markdown_chunker.blocks import Block, markdown_blocks, plain_blocks
from evidence_lookup.adapters.markdown_chunker.headings import Heading, common_path, descend
from evidence_lookup.adapters.markdown_chunker.packing import pack
from evidence_lookup.adapters.markdown_chunker.pieces import Piece, cut_block
from evidence_lookup.domain.text import is_blank
from evidence_lookup.ports.chunker import ChunkedDocument, TextChunk
from evidence_lookup.ports.document_source import ReadDocument

_LEAST_TOKENS = 16
_PIECES_PER_CHUNK = 5
_BLANK_LINES = re.compile(r"\s*(?:\r\n|\r|\n)")


class MarkdownChunker:
    """Puts blocks together up to *max_tokens*, one topic to a chunk.

    A chunk that is about half full ends before the next heading of level 1 or 2, three quarters
    full before any, unless all of the section around that heading has room in it. A block that
    fits a chunk is cut only where its heading leaves it no room. A heading stays with its text.

    `TextChunk.headings` is the path that everything in the chunk shares: of several sibling
    sections, the one above them. Characters that show nothing (zero-width spaces) count as white
    space. *count_tokens* is the embedder's; it is called with about one and a half times the text.

    Raises:
        ValueError: *max_tokens* is below 16.
    """

    def __init__(self, count_tokens: Callable[[str], int], max_tokens: int = 320) -> None:
        if max_tokens < _LEAST_TOKENS:
            raise ValueError(f"max_tokens must be at least {_LEAST_TOKENS}, not {max_tokens}")
        self._count = count_tokens
        self._max_tokens = max_tokens

    @property
    def name(self) -> str:
        """``markdown-v1-`` and the size in tokens."""
        return f"markdown-v1-{self._max_tokens}"

    def chunk(self, document: ReadDocument) -> ChunkedDocument:
        """The chunks of *document*, in order, without overlap."""
        text, start = document.text, document.body_start
        find = markdown_blocks if document.is_markdown else plain_blocks
        blocks = find(text, start)
        chunks = tuple(self._chunks(text, blocks))
        headings = [block.heading for block in blocks if block.heading is not None]
        titles = (heading.text for heading in headings if heading.level == 1 and heading.text)
        return ChunkedDocument(
            chunks=chunks,
            title=next(titles, None),
            headings=tuple(dict.fromkeys(heading.text for heading in headings if heading.text)),
        )

    def _chunks(self, text: str, blocks: list[Block]) -> list[TextChunk]:
        size = self._max_tokens // _PIECES_PER_CHUNK
        pieces = [
            piece
            for number, block in enumerate(blocks)
            for piece in cut_block(text, block, number, count=self._count, size=size)
        ]
        paths = _paths(blocks)

        def measure(first: int, end: int) -> int:
            start, stop = trimmed(text, pieces[first].start, pieces[end - 1].end)
            return self._count(text[start:stop])

        chunks: list[TextChunk] = []
        for first, end in pack(pieces, size=self._max_tokens, measure=measure):
            start, stop = trimmed(text, pieces[first].start, pieces[end - 1].end)
            content = text[start:stop]
            if not is_blank(content):
                path = common_path(paths[number] for number in _numbers(pieces[first:end]))
                headings = tuple(heading.text for heading in path if heading.text)
                chunks.append(TextChunk(content, start, stop, headings))
        return chunks


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without outer blank lines; the first line keeps its indentation."""
    end = start + len(text[start:end].rstrip())
    blank = _BLANK_LINES.match(text, start, end)
    if blank is not None:
        return blank.end(), end
    if start == 0 or text[start - 1] in "\r\n":
        return start, end
    return end - len(text[start:end].lstrip()), end


def _paths(blocks: list[Block]) -> list[tuple[Heading, ...]]:
    paths: list[tuple[Heading, ...]] = []
    path: tuple[Heading, ...] = ()
    for block in blocks:
        if block.heading is not None:
            path = descend(path, block.heading)
        paths.append(path)
    return paths


def _numbers(pieces: list[Piece]) -> list[int]:
    return [number for number, _ in groupby(pieces, key=attrgetter("block"))]
