"""Counts tokens without the vocabulary of the model, which only its vendor's site has."""

import math
import re

_WORD = re.compile(r"[A-Za-z]?[a-z]+")
_SPACES = re.compile(r"[ \t]{2,}")
_WORD_OR_SPACE = re.compile(r"[A-Za-z]?[a-z]+|[ \t]+")
_LETTERS_PER_TOKEN = 4
_SPACES_PER_TOKEN = 8
_TOKENS_PER_CHARACTER = (
    (re.compile(r"[\x00-\x7f]"), 1.0),
    (re.compile(r"[\x80-\u07ff]"), 0.8),
    (re.compile(r"[\u0800-\uffff]"), 1.3),
    (re.compile(r"[\U00010000-\U0010ffff]"), 3.0),
)


def estimate(text: str) -> int:
    """About how many tokens byte-pair vocabularies have for *text*, rather too many than too few.

    A lower-case word counts a token for each 4 letters begun; a capital, digit, mark or line end
    counts one; a character of two, three or four UTF-8 bytes 0.8, 1.3 or 3. One space between
    words is free, since vocabularies join it to the word.
    """
    total: float = sum(-(-len(word) // _LETTERS_PER_TOKEN) for word in _WORD.findall(text))
    total += sum((len(run) - 1) / _SPACES_PER_TOKEN for run in _SPACES.findall(text))
    rest = _WORD_OR_SPACE.sub("", text)
    if rest.isascii():
        return math.ceil(total + len(rest))
    for characters, tokens in _TOKENS_PER_CHARACTER:
        total += tokens * len(characters.findall(rest))
    return math.ceil(total)
