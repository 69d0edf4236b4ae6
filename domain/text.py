"""How texts are compared and cut, in alphabetic and in CJK scripts."""

import re
import unicodedata

_CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31a0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
)
_CJK_CHAR = re.compile(f"[{_CJK}]")
_WORD = re.compile(rf"[^\W{_CJK}\d_]+")
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+|[^\w\s]|\n")
# Letters and marks that show nothing: joiners, fillers, variation selectors, blank Braille.
_SHOWS_NOTHING = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0000-\U000e0fff]"
)
_LETTERS_PER_TOKEN = 4


def normalise(text: str) -> str:
    """*text* as hints compare it: compatibility forms folded (NFKC), without case."""
    return unicodedata.normalize("NFKC", text).casefold()


def is_cjk(char: str) -> bool:
    """Whether *char* belongs to a script of Chinese, Japanese or Korean."""
    return _CJK_CHAR.match(char) is not None


def is_blank(text: str) -> bool:
    """Whether *text* shows nothing: empty, white space, controls and invisible characters only."""
    return all(
        unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs")
        or _SHOWS_NOTHING.match(char)
        for char in text
    )


def has_controls(text: str) -> bool:
    """Whether *text* holds a control character, line ends and tabs too, or a lone surrogate."""
    return any(unicodedata.category(char) in ("Cc", "Cs") for char in text)


def is_whole_word(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` stands as a word of its own.

    An end that is a CJK character needs no border: Chinese, Japanese and Korean terms are found
    inside longer runs. An end in an alphabetic script must not touch a letter or digit of such a
    script.
    """
    return not (
        _continues(text[start - 1 : start], text[start : start + 1])
        or _continues(text[end : end + 1], text[end - 1 : end])
    )


def clean(text: str) -> str:
    """*text* with lone surrogates and control characters replaced visibly by U+FFFD.

    Line ends and tabs stay. The result can be encoded as UTF-8 and stored anywhere.
    """
    return "".join(
        "\ufffd" if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\r\t" else char
        for char in text
    )


def cut(text: str, limit: int) -> str:
    """The longest beginning of *text* of at most *limit* characters that ends at a word's end.

    Where no border stands in the last quarter (a long CJK run, a hash), it is cut at the limit,
    but never between a character and its combining marks.
    """
    if len(text) <= limit:
        return text
    for end in range(limit, max(limit * 3 // 4, 1) - 1, -1):
        if _is_mark(text[end]):
            continue
        if text[end].isspace() or text[end - 1].isspace() or is_cjk(text[end - 1]):
            return text[:end].rstrip()
    end = limit
    while end > 1 and (_is_mark(text[end]) or unicodedata.category(text[end]) == "Cf"):
        end -= 1
    return text[:end]


def cjk_share(text: str) -> float:
    """How much of *text* is CJK, 0 to 1, counting two CJK characters as a word.

    Digits and punctuation do not count; a text without letters is not CJK.
    """
    words = len(_WORD.findall(text))
    characters = len(_CJK_CHAR.findall(text))
    return characters / (characters + 2 * words) if characters else 0.0


def estimate_tokens(text: str) -> int:
    """About how many tokens a language model counts in *text*; never falls as *text* grows.

    A CJK character, a punctuation mark and a line end count as one token, a run of letters and
    digits as one for each 4 characters begun: the rule of thumb that model vendors give for
    English, with CJK counted by character, which is the upper end for current vocabularies.
    """
    return sum(-(-len(token) // _LETTERS_PER_TOKEN) for token in _TOKEN.findall(text))


def _continues(neighbour: str, edge: str) -> bool:
    if not neighbour or not edge or is_cjk(edge) or is_cjk(neighbour):
        return False
    return _is_word(edge) and _is_word(neighbour)


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_" or _is_mark(char)


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"
