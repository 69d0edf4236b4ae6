"""Whether a quoted text stands in an excerpt, however both are typeset."""

import re
import unicodedata
from collections.abc import Sequence

from evidence_lookup.domain.evidence_guard.text_units import MARKDOWN_ESCAPE
from evidence_lookup.domain.text import is_cjk, is_whole_word, normalise

_QUOTE_MARKS = "\"'´‘’‚‛“”„‟‹›«»「」『』〝〞〟"
_DASHES = "‐‑‒–—―−⸺⸻"
_FOLDED = str.maketrans(
    {
        **dict.fromkeys(_QUOTE_MARKS, "'"),
        **dict.fromkeys(_DASHES, "-"),
        "。": ".",
        "、": ",",
        "*": None,
    }
)
_DASH = re.compile(r" ?-+ ?")
_AROUND_MARKS = re.compile(r" (?=[,.;:!?'()])|(?<=[,.;:!?'()]) (?!\d)")
_ELLIPSIS = re.compile(r" ?[\[(]? ?\.{3,} ?[\])]? ?")
_EDGES = " .,;:!?'"


def matchable(text: str) -> str:
    """*text* in the form in which quotes are compared.

    Compatibility forms are folded (NFKC, so full-width forms too) and case is. White space is one
    space, and none beside a CJK character, a punctuation mark or a dash. All quotation marks are
    one, all dashes are one, CJK full stops and commas are Western ones; invisible characters,
    Markdown's emphasis and code marks and its backslashes are gone.
    """
    text = "".join(char for char in normalise(text) if unicodedata.category(char) != "Cf")
    text = MARKDOWN_ESCAPE.sub("", text.replace("`", "")).translate(_FOLDED)
    return _AROUND_MARKS.sub("", _DASH.sub("-", _spaced(text)))


def quote_parts(quote: str) -> tuple[str, ...]:
    """The parts of *quote* that an ellipsis (``…``, ``...``, ``[…]``) splits it into, matchable.

    Punctuation at the ends of a part is the answer's rather than the source's, and goes.
    """
    parts = (part.strip(_EDGES) for part in _ELLIPSIS.split(matchable(quote)))
    return tuple(part for part in parts if part)


def stands_in(parts: Sequence[str], excerpt: str) -> bool:
    """Whether all *parts* stand in the matchable *excerpt*, in order, each as whole words."""
    position = 0
    for part in parts:
        found = _find(part, excerpt, position)
        if found < 0:
            return False
        position = found + len(part)
    return True


def _find(part: str, excerpt: str, start: int) -> int:
    found = excerpt.find(part, start)
    while found >= 0:
        end = found + len(part)
        if is_whole_word(excerpt, found, end) and not _cuts_number(excerpt, found, end):
            return found
        found = excerpt.find(part, found + 1)
    return -1


def _cuts_number(text: str, start: int, end: int) -> bool:
    """Whether an end lies inside a number such as 1.5 or 10,000."""
    return _is_inside_number(text[max(start - 2, 0) : start + 1][::-1]) or _is_inside_number(
        text[end - 1 : end + 2]
    )


def _is_inside_number(edge: str) -> bool:
    return len(edge) == 3 and edge[0].isdigit() and edge[1] in ".," and edge[2].isdigit()


def _spaced(text: str) -> str:
    """*text* with single spaces, and none beside a CJK character."""
    words = text.split()
    pieces: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        if before and not is_cjk(before[-1]) and not is_cjk(word[0]):
            pieces.append(" ")
        pieces.append(word)
    return "".join(pieces)
