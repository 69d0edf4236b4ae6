"""How good a place is for one chunk to end and the next to begin.

A border is a whole number; higher is better. Headings are best, the higher their level the better,
then blocks, list items, lines of code and sentences, clauses, words, characters.
"""

import re

from evidence_lookup.domain.text import is_cjk

RULE = 60
BLOCK = 50
ITEM = 40
INNER = 30
LEAD_IN = 25
EMPTY_LINE = 22
SENTENCE = 20
CLAUSE = 15
WORD = 10
CJK = 8
CHARACTER = 0
GLUED = -1
"""Behind a heading: only taken where nothing else is left."""

_DEEPEST = 9
_CLOSING = "[\"'”’」』）)\\]】》*_`]*"
_SENTENCE_END = re.compile(rf"(?:[。！？；…]{_CLOSING}\s*|[.!?]{_CLOSING}\s+)$")
_CLAUSE_END = re.compile(r"(?:[，、：]\s*|[,;:]\s+)$")
_LINE_END = re.compile(r"(\r\n|\r|\n)[ \t]*$")
_EMPTY_LINE = re.compile(r"(\r\n|\r|\n)[ \t]*(\r\n|\r|\n)\s*$")
_LOOK_BACK = 40


def heading_border(level: int) -> int:
    """The border before a heading of *level* 1 to 6."""
    return 100 - level


def heading_level(border: int) -> int | None:
    """The heading's level if a heading begins at *border*."""
    return 100 - border if border > RULE else None


def nested_border(depth: int, *, is_item: bool) -> int:
    """The border before a block that stands *depth* containers deep, or before a list's item."""
    if depth == 0:
        return BLOCK
    return (ITEM if is_item else INNER) - min(depth, _DEEPEST)


def border_within(text: str, position: int, *, by_lines: bool) -> int:
    """The border at *position* inside a block; line ends count where it is read *by_lines*."""
    before = text[max(0, position - _LOOK_BACK) : position]
    if by_lines and _LINE_END.search(before):
        return EMPTY_LINE if _EMPTY_LINE.search(before) else SENTENCE
    if _SENTENCE_END.search(before):
        return SENTENCE
    if _CLAUSE_END.search(before):
        return CLAUSE
    last, first = before[-1:], text[position : position + 1]
    if last.isspace() or first.isspace():
        return WORD
    return CJK if is_cjk(first) or (last and is_cjk(last)) else CHARACTER
