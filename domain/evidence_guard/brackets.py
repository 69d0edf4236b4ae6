"""Which bracket of a text closes which."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

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


def innermost(pairs: Sequence[Group], positions: Iterable[int]) -> Iterator[int | None]:
    """For each of *positions*, in order, the index of the innermost of *pairs* around it."""
    begun: list[int] = []
    following = 0
    for position in positions:
        while following < len(pairs) and pairs[following].start < position:
            begun.append(following)
            following += 1
        while begun and pairs[begun[-1]].end < position:
            begun.pop()
        yield begun[-1] if begun else None
