"""Patterns that end in many other patterns, which would all be reported at one place."""

from collections.abc import Iterable


def deeply_nested(patterns: Iterable[str], *, most: int) -> set[str]:
    """Those of *patterns*, all different, that end in at least *most* others of them.

    Without them at most *most* patterns end at any place of any text. Takes the time of sorting.
    """
    found: set[str] = set()
    # Turned round, a pattern's ends come right before it in the order, the shortest first.
    ends: list[str] = []
    for turned in sorted(pattern[::-1] for pattern in patterns):
        while ends and not turned.startswith(ends[-1]):
            ends.pop()
        if len(ends) >= most:
            found.add(turned[::-1])
        ends.append(turned)
    return found
