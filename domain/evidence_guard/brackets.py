"""Which bracket of a text closes which."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from attrs import frozen

OPENERS = "[【［"
CLOSERS = "]】］"
_BRACKET = re.compile(f"[{re.escape(OPENERS + CLOSERS)}]")


@frozen
class Group:
    """A pair of brackets at `start` and `end`."""

    start: int
    end: int


def groups(text: str, apart: Sequence[tuple[int, int]]) -> list[Group]:
    """The pairs of brackets in *text*, in order of their openers.

    Those within *apart*, spans in order, are passed over. An opener or a closer without its other
    half is no pair.
    """
    open_at: list[int] = []
    pairs: list[tuple[int, int]] = []
    starts = [start for start, _ in apart]
    for bracket in _BRACKET.finditer(text):
        position = bracket.start()
        span = bisect_right(starts, position) - 1
        if span >= 0 and position < apart[span][1]:
            continue
        if bracket.group() in OPENERS:
            open_at.append(position)
        elif open_at:
            pairs.append((open_at.pop(), position))
    return [Group(*pair) for pair in sorted(pairs)]


class Nesting:
    """Tells the innermost pair around a place."""

    def __init__(self, pairs: list[Group]) -> None:
        self._edges: list[int] = []
        self._inside: list[int | None] = []
        around: list[int] = []
        events = sorted(
            [(one.start, 1, index) for index, one in enumerate(pairs)]
            + [(one.end, 0, index) for index, one in enumerate(pairs)]
        )
        for position, opens, index in events:
            if opens:
                around.append(index)
            else:
                around.pop()
            self._edges.append(position)
            self._inside.append(around[-1] if around else None)

    def innermost(self, position: int) -> int | None:
        """The index of the innermost pair around the character at *position*, or None."""
        edge = bisect_right(self._edges, position) - 1
        return self._inside[edge] if edge >= 0 else None
