"""An answer's text in the units that sentences do not cross, and its code."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from enum import StrEnum

from attrs import frozen

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([^\s`]*)")
_BLOCK_QUOTE = re.compile(r"[ \t]{0,3}>[ \t]?")
_NEW_UNIT = re.compile(
    r"[ \t]*(?:[-*+•][ \t]|[0-9]{1,3}[.)][ \t]|#{1,6}[ \t]|\||\[[^\[\]\n]{1,20}\]:)"
)
MARKDOWN_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
"""A backslash before a punctuation mark."""
_BACKTICKS = re.compile(r"`+")


class UnitKind(StrEnum):
    """What a unit is."""

    TEXT = "text"
    BLOCK_QUOTE = "block_quote"
    CODE = "code"


@frozen
class Unit:
    """``text[start:end]``: a paragraph, list item, heading, table row, block quote, code block.

    `language` is the first word after a code block's fence.
    """

    start: int
    end: int
    kind: UnitKind
    language: str = ""


def units(text: str) -> list[Unit]:
    """The units of *text*, in order; blank lines belong to none."""
    found: list[Unit] = []
    fence = ""
    joins = False
    for line in _LINE.finditer(text):
        start, end = line.span()
        opened = _FENCE.match(text, start, end)
        if fence:
            found[-1] = Unit(found[-1].start, end, UnitKind.CODE, found[-1].language)
            if opened and opened[1].startswith(fence) and not text[opened.end(1) : end].strip():
                fence = ""
            continue
        if opened:
            fence, joins = opened[1], False
            found.append(Unit(start, end, UnitKind.CODE, opened[2].lower()))
        elif not line.group().strip():
            joins = False
        else:
            quoted = _BLOCK_QUOTE.match(text, start, end) is not None
            kind = UnitKind.BLOCK_QUOTE if quoted else UnitKind.TEXT
            if joins and found[-1].kind is kind and (quoted or not _NEW_UNIT.match(text, start)):
                found[-1] = Unit(found[-1].start, end, kind)
            else:
                found.append(Unit(start, end, kind))
            joins = True
    return found


class CodeSpans:
    """Where a text is code: fenced blocks, and spans between backticks within a line."""

    def __init__(self, text: str, parts: Sequence[Unit]) -> None:
        spans = [(one.start, one.end) for one in parts if one.kind is UnitKind.CODE]
        for one in parts:
            if one.kind is not UnitKind.CODE and text.find("`", one.start, one.end) >= 0:
                for line in _LINE.finditer(text, one.start, one.end):
                    spans += _inline(text, *line.span())
        self._spans = sorted(spans)
        self._starts = [start for start, _ in self._spans]

    def holds(self, position: int) -> bool:
        """Whether the character at *position* is code."""
        index = bisect_right(self._starts, position) - 1
        return index >= 0 and position < self._spans[index][1]


def _inline(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Code spans of one line: from a run of backticks to the next run of the same length."""
    runs = [run.span() for run in _BACKTICKS.finditer(text, start, end)]
    last = {run_end - run_start: index for index, (run_start, run_end) in enumerate(runs)}
    spans: list[tuple[int, int]] = []
    index = 0
    while index < len(runs):
        length = runs[index][1] - runs[index][0]
        if last[length] > index:
            close = next(
                other
                for other in range(index + 1, len(runs))
                if runs[other][1] - runs[other][0] == length
            )
            spans.append((runs[index][0], runs[close][1]))
            index = close
        index += 1
    return spans
