"""The terms of a text, for keyword paths that bring no analyzer of their own."""

import re
from itertools import groupby

from evidence_lookup.domain.text import is_cjk, normalise

_WORD = re.compile(r"[^\W_]+")


def terms(text: str) -> list[str]:
    """Words of alphabetic scripts, and pairs of neighbours for CJK; one alone is itself.

    They are in the order of the text, with repeats, without letter case, and hold no white space.
    """
    found: list[str] = []
    for word in _WORD.findall(normalise(text)):
        for cjk, group in groupby(word, is_cjk):
            run = "".join(group)
            if cjk and len(run) > 1:
                found.extend(run[i : i + 2] for i in range(len(run) - 1))
            else:
                found.append(run)
    return found
