"""Counts tokens without the vocabulary of the model, which only its vendor's site has."""

import math
import re

_PART = re.compile(
    r"(?P<word>[A-Za-z]?[a-z]+)"
    r"|(?P<spaces>[ \t]+)"
    r"|(?P<single>[\x00-\x7f])"
    r"|(?P<two_bytes>[\x80-\u07ff]+)"
    r"|(?P<three_bytes>[\u0800-\uffff]+)"
    r"|(?P<four_bytes>.)",
    re.DOTALL,
)
_LETTERS_PER_TOKEN = 4
_SPACES_PER_TOKEN = 8
_TOKENS_PER_CHARACTER = {"two_bytes": 0.8, "three_bytes": 1.3, "four_bytes": 3.0}


def estimate(text: str) -> int:
    """About how many tokens byte-pair vocabularies have for *text*, rather too many than too few.

    A lower-case word counts a token for each 4 letters begun; a capital, digit, mark or line end
    counts one; a character of two, three or four UTF-8 bytes 0.8, 1.3 or 3. One space between
    words is free, since vocabularies join it to the word.
    """
    total = 0.0
    for match in _PART.finditer(text):
        length = match.end() - match.start()
        kind = match.lastgroup or ""
        if kind == "word":
            total += -(-length // _LETTERS_PER_TOKEN)
        elif kind == "spaces":
            total += (length - 1) / _SPACES_PER_TOKEN
        else:
            total += length * _TOKENS_PER_CHARACTER.get(kind, 1.0)
    return math.ceil(total)
