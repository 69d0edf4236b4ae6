"""Where lines and characters may be parted."""

import re
import unicodedata
from collections.abc import Iterator

from evidence_lookup.domain.text import is_cjk

# The splitter's time grows with the square of its input.
_WINDOW = 2_000
_WINDOW_ENDS = (
    re.compile(r"(?:\r\n|\r|\n)(?=\S)"),
    re.compile(r"[。！？]|[.!?]\s+(?=\S)"),
    re.compile(r"\s(?=\S)"),
)
_LINE_BREAK = re.compile(r"(\S)[^\S\r\n]*(?:\r\n|\r|\n)[^\S\r\n]*(?=(\S))")
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*\|[ \t:|-]*$", re.MULTILINE)
_ENDS = frozenset("。！？；….!?;:：")
_SAMPLE = 4_096
_JOINER = "\u200d"


def lines_matter(text: str) -> bool:
    """Whether the lines of a paragraph are records, as in tables and logs, and not just wrapped."""
    sample = text[:_SAMPLE]
    if _TABLE_RULE.search(sample):
        return True
    breaks = [(match[1], match[2]) for match in _LINE_BREAK.finditer(sample)]
    wrapped = sum(before not in _ENDS and _continues(after) for before, after in breaks)
    return 2 * wrapped < len(breaks)


def windows(text: str) -> Iterator[tuple[int, str]]:
    """*text* in parts of bounded length, with the place where each begins."""
    start = 0
    while len(text) - start > _WINDOW:
        end = _window_end(text, start + _WINDOW // 2, start + _WINDOW)
        yield start, text[start:end]
        start = end
    if start < len(text):
        yield start, text[start:]


def _continues(char: str) -> bool:
    return char.islower() or is_cjk(char)


def _window_end(text: str, lowest: int, highest: int) -> int:
    for pattern in _WINDOW_ENDS:
        ends = [match.end() for match in pattern.finditer(text, lowest, highest)]
        if ends:
            return ends[-1]
    end = highest
    while end > lowest and _is_joined(text, end):
        end -= 1
    return end if end > lowest else highest


def _is_joined(text: str, position: int) -> bool:
    """Whether the characters at both sides of *position* are seen as one."""
    before, after = text[position - 1], text[position]
    if before == _JOINER or after == _JOINER or (before == "\r" and after == "\n"):
        return True
    if _is_regional(before) and _is_regional(after):
        start = position
        while start and _is_regional(text[start - 1]):
            start -= 1
        return (position - start) % 2 == 1
    return unicodedata.category(after)[0] == "M" or "\U0001f3fb" <= after <= "\U0001f3ff"


def _is_regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
