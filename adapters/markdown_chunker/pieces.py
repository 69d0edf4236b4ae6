"""Blocks cut into pieces, from which chunks of a size are put together."""

import re
from collections.abc import Callable, Iterator

from attrs import frozen

from evidence_lookup.adapters.markdown_chunker.blocks import Block
from evidence_lookup.adapters.markdown_chunker.borders import border_within
from evidence_lookup.adapters.markdown_chunker.lines import lines_matter, windows
from evidence_lookup.domain.text import estimate_tokens

_SURROGATES = re.compile("[\ud800-\udfff]")
_FULL_STOPS = re.compile("[；…]")
_LINE_END = re.compile(r"[\r\n]")


@frozen
class Piece:
    """``text[start:end]`` with its number of tokens and the border before it.

    `whole` is the number of tokens of the block that begins here, or of the piece within a block;
    `block` is the block's place in the document.
    """

    start: int
    end: int
    border: int
    tokens: int
    whole: int
    block: int


def cut_block(
    text: str, block: Block, number: int, *, count: Callable[[str], int], size: int
) -> Iterator[Piece]:
    """The pieces of *block* in order, without gaps.

    A piece has about *size* tokens at most, at most twice as many in any case unless it is a
    single character.
    """
    raw = text[block.start : block.end]
    estimate = estimate_tokens(raw)
    if estimate <= 2 * size and (tokens := count(raw)) <= size:
        yield Piece(block.start, block.end, block.border, max(1, tokens), tokens, number)
        return
    by_lines = block.by_lines or lines_matter(raw)
    readable = _readable(raw, by_lines=by_lines)
    spans = list(_spans(raw, readable, tokens=estimate, count=count, size=size))
    whole = sum(tokens for _, _, tokens in spans)
    for start, end, tokens in spans:
        at = block.start + start
        yield Piece(
            at,
            block.start + end,
            block.border if start == 0 else border_within(text, at, by_lines=by_lines),
            tokens,
            whole if start == 0 else tokens,
            number,
        )


def _readable(text: str, *, by_lines: bool) -> str:
    """*text* as the splitter is to see it, with each character in its place.

    It takes a line end for a stronger border than a sentence's end, does not know that ``；`` ends
    one in Chinese, and reads no lone surrogates.
    """
    text = _FULL_STOPS.sub("。", _SURROGATES.sub("\ufffd", text))
    return text if by_lines else _LINE_END.sub(" ", text)


def _spans(
    text: str, readable: str, *, tokens: int, count: Callable[[str], int], size: int
) -> Iterator[tuple[int, int, int]]:
    """Starts, ends and tokens of the pieces of *text*, which has about *tokens*."""
    capacity = max(1, min(len(text) * size // max(1, tokens), len(text) // 2))
    for offset, window in windows(readable):
        for start, content in _split(window, capacity):
            at, end = offset + start, offset + start + len(content)
            found = max(1, count(text[at:end]))
            if found <= 2 * size or len(content) == 1:
                yield at, end, found
                continue
            inner = _spans(text[at:end], content, tokens=found, count=count, size=size)
            for inner_start, inner_end, inner_tokens in inner:
                yield at + inner_start, at + inner_end, inner_tokens


def _split(text: str, capacity: int) -> list[tuple[int, str]]:
    from semantic_text_splitter import TextSplitter

    lowest = max(1, capacity // 2)
    return TextSplitter((lowest, capacity), trim=False).chunk_indices(text)
