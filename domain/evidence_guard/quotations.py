"""Quotations in the text of an answer."""

import re
from collections.abc import Iterator, Sequence

from attrs import frozen

from evidence_lookup.domain.evidence_guard.text_units import Unit, UnitKind
from evidence_lookup.domain.text import is_cjk

_QUOTED = re.compile(
    r"“([^“”]*)”|„([^„“”]*)[“”]|«([^«»]*)»|「([^「」]*)」|『([^『』]*)』|＂([^＂]*)＂"
    r'|(?<![A-Za-z0-9])"(?=[^\s"])([^"]*)(?<!\s)"(?![A-Za-z0-9])'
)
_LINE_HEAD = re.compile(r"(?m)^[ \t]{0,3}>[ \t]?")
_CALLOUT = re.compile(r"[ \t]*>[ \t]*(?:\[!|\*\*|__|[A-Z]\w{2,9}:\s)")
_WORD = re.compile(r"[^\W_]+")
_FEWEST_WORDS = 3


@frozen
class Quotation:
    """``text[start:end]`` with its marks; what is quoted is ``text[inner_start:inner_end]``."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    is_block: bool = False


def quotations(text: str, parts: Sequence[Unit]) -> Iterator[tuple[Unit, Quotation]]:
    """The quotations in *parts*, the units of *text*, in order.

    Text in “…”, „…“, «…», 「…」, 『…』 or straight double quotation marks within one unit, the
    outermost where they nest, and Markdown's block quotes, unless one begins like a callout
    (``> **Note**``, ``> [!TIP]``, ``> Note: …``). Single quotation marks are apostrophes as often
    as not and make none.
    """
    for unit in parts:
        if unit.kind is UnitKind.BLOCK_QUOTE:
            if not _CALLOUT.match(text, unit.start):
                yield unit, Quotation(unit.start, unit.end, unit.start, unit.end, is_block=True)
        elif unit.kind is UnitKind.TEXT:
            for found in _QUOTED.finditer(text, unit.start, unit.end):
                group = found.lastindex or 0
                yield unit, Quotation(*found.span(), *found.span(group))


def without_markers(text: str) -> str:
    """*text* without the marks at the beginnings of a block quote's lines."""
    return _LINE_HEAD.sub("", text)


def is_long_enough(quoted: str) -> bool:
    """Whether *quoted* is no mere name or term: it has 3 words, or 6 characters of CJK.

    In a mixture two characters of CJK count as a word.
    """
    characters = sum(map(is_cjk, quoted))
    words = _WORD.findall("".join(" " if is_cjk(char) else char for char in quoted))
    return characters / 2 + len(words) >= _FEWEST_WORDS
