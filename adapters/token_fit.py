"""Cuts a text to a number of tokens, for any way of counting them."""

from collections.abc import Callable

from evidence_lookup.domain.text import cut


def beginning(text: str, *, limit: int, count: Callable[[str], int]) -> str:
    """The longest beginning of *text* of at most *limit* tokens by *count*, cut at a word's end.

    A text that fits comes back as it is. Time grows with the result, not with *text*.
    """
    # Twice the limit, since half a word at the end may count more than the whole one.
    high = max(1, limit)
    while high < len(text) and count(text[:high]) <= 2 * limit:
        high *= 2
    if high >= len(text):
        if count(text) <= limit:
            return text
        high = len(text)
    low, best = 0, ""
    while low + 1 < high:
        middle = (low + high) // 2
        part = cut(text, middle)
        if count(part) <= limit:
            low, best = middle, part
        else:
            high = middle
    return best
