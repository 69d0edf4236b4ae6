"""A document's blocks: headings, paragraphs, items, code, in the order of the text."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from attrs import evolve, frozen
from markdown_it import MarkdownIt
from markdown_it.token import Token

from evidence_lookup.adapters.markdown_chunker import borders
from evidence_lookup.adapters.markdown_chunker.headings import Heading, heading_text

# The three line ends that CommonMark knows; str.splitlines knows more.
_LINE_END = re.compile(r"\r\n|\r|\n")
_PARAGRAPH_GAP = re.compile(r"(?:\r\n|\r|\n)(?:[^\S\r\n]*(?:\r\n|\r|\n))+")
_LEAVES = frozenset({"paragraph_open", "heading_open", "fence", "code_block", "html_block", "hr"})
_BY_LINES = frozenset({"fence", "code_block", "html_block"})
_CONTAINERS = frozenset(
    {"bullet_list_open", "ordered_list_open", "list_item_open", "blockquote_open"}
)
_LEADS_IN = re.compile(r"[:：][*_`]*\s*\Z")
_TAIL = 40


@frozen
class Block:
    """``text[start:end]``, with how good a place to cut stands before it.

    `by_lines` says that its lines mean something, as in code. Blocks follow each other without
    gaps; white space between two belongs to the first.
    """

    start: int
    end: int
    border: int = borders.BLOCK
    kind: str = "paragraph_open"
    heading: Heading | None = None

    @property
    def by_lines(self) -> bool:
        """Whether its lines mean something, as in code."""
        return self.kind in _BY_LINES


def markdown_blocks(text: str, start: int) -> list[Block]:
    """The blocks of the Markdown in ``text[start:]``."""
    body = text[start:]
    lines = [start, *(start + match.end() for match in _LINE_END.finditer(body))]
    references: dict[str, Any] = {}
    tokens = _block_parser().parse(body, references)
    return _joined(list(_leaves(tokens, lines, references)), text, start)


def plain_blocks(text: str, start: int) -> list[Block]:
    """The paragraphs of ``text[start:]``, which empty lines part."""
    starts = [start, *(match.end() for match in _PARAGRAPH_GAP.finditer(text, start))]
    return _joined([Block(at, at) for at in starts if at < len(text)], text, start)


@cache
def _block_parser() -> MarkdownIt:
    # Cutting needs no inline structure, which is most of a parser's work.
    return MarkdownIt("commonmark").disable(["inline", "text_join"])


def _leaves(
    tokens: Sequence[Token], lines: Sequence[int], references: dict[str, Any]
) -> Iterator[Block]:
    opened: Token | None = None
    for index, token in enumerate(tokens):
        if token.type in _CONTAINERS:
            opened = opened or token
        elif token.type in _LEAVES:
            first, opened = opened or token, None
            if first.map is None:
                continue
            border = borders.nested_border(first.level, is_item=first.type == "list_item_open")
            heading = None
            if token.type == "hr":
                border = max(border, borders.RULE if token.level == 0 else 0)
            elif token.type == "heading_open" and token.level == 0:
                content = tokens[index + 1].content
                heading = Heading(int(token.tag[1:]), heading_text(content, references))
                border = borders.heading_border(heading.level)
            at = lines[first.map[0]]
            yield Block(at, at, border=border, kind=token.type, heading=heading)


def _joined(leaves: list[Block], text: str, start: int) -> list[Block]:
    """*leaves* with their ends, and with weak borders behind what belongs to the next block.

    Text that is no leaf's, such as the targets of links, joins the leaf before it.
    """
    if not leaves and start < len(text):
        leaves = [Block(start, len(text))]
    blocks: list[Block] = []
    for index, leaf in enumerate(leaves):
        block = evolve(
            leaf,
            start=leaf.start if blocks else start,
            end=leaves[index + 1].start if index + 1 < len(leaves) else len(text),
        )
        if blocks:
            block = evolve(block, border=_border_between(blocks[-1], block, text))
        blocks.append(block)
    return blocks


def _border_between(before: Block, block: Block, text: str) -> int:
    if block.heading is not None and (
        before.heading is None or block.heading.level <= before.heading.level
    ):
        return block.border
    if before.kind == "heading_open":
        return borders.GLUED
    tail = text[max(before.start, before.end - _TAIL) : before.end]
    if before.kind == "hr" or (before.kind == "paragraph_open" and _LEADS_IN.search(tail)):
        return min(block.border, borders.LEAD_IN)
    return block.border
