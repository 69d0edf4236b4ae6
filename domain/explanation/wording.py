"""Figures in sentences."""

from collections.abc import Sequence

_MOST_NAMED = 5


def compared(one: float, other: float) -> tuple[str, str]:
    """Both with as many digits as it takes to tell them apart, 3 to 9."""
    for digits in range(3, 9):
        pair = f"{one:.{digits}f}", f"{other:.{digits}f}"
        if pair[0] != pair[1] or one == other:
            return pair
    return f"{one:.9f}", f"{other:.9f}"


def against_floor(similarity: float, floor: float) -> str:
    """``similarity 0.412, floor 0.200``."""
    near, least = compared(similarity, floor)
    return f"similarity {near}, floor {least}"


def listed(names: Sequence[str], word: str = "and") -> str:
    """*names* in a sentence, at most five by name."""
    named, more = list(names[:_MOST_NAMED]), len(names) - _MOST_NAMED
    if more > 0:
        return f"{', '.join(named)} {word} {more} more"
    return f" {word} ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def counted(count: int, name: str) -> str:
    """``1 block``, ``2 blocks``."""
    return f"1 {name}" if count == 1 else f"{count} {name}s"
