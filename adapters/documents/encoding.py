"""Bytes to text, in whatever encoding."""

import codecs
import re
import unicodedata

from attrs import frozen

from evidence_lookup.domain.errors import UnreadableDocumentError
from evidence_lookup.domain.text import is_blank

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 65_536
# Escape sequences, form feeds and the like stand in logs; other controls in no text.
_CONTROLS = re.compile("[\x01-\x06\x0e-\x1a\x1c-\x1f]")
_LARGEST_CONTROL_SHARE = 0.05
# The 3,755 commonest characters of written Chinese, and what a language other than it has more of.
_COMMON_HANZI = re.compile(rb"[\xb0-\xd7][\xa1-\xfe]")
_KANA = re.compile("[\u3040-\u30ff]")
_LEAST_HANZI_SHARE = 0.6
# Within this distance the detector's order is chance: Western, Baltic and Central European
# encodings share most letters.
_ALIKE = 0.1
_WESTERN = "cp1252"


@frozen
class Decoded:
    """A text, and the warning that it was not UTF-8."""

    text: str
    warning: str | None = None


def decode(data: bytes, *, source: str, declared: str | None = None) -> Decoded:
    """The text of *data*, without a byte order mark; *declared* is what the file itself says.

    UTF-8 is tried first, then a byte order mark and the declared encoding, then it is detected.

    Raises:
        UnreadableDocumentError: the file is empty, blank, binary or in no encoding that can be
            told.
    """
    if not data:
        raise UnreadableDocumentError(f"{source} is empty")
    text, encoding = _text(data, declared)
    if text is None:
        if b"\0" in data:
            raise UnreadableDocumentError(f"{source} is binary")
        raise UnreadableDocumentError(f"{source} is in no encoding that can be told")
    if "\0" in text or len(_CONTROLS.findall(text)) > _LARGEST_CONTROL_SHARE * len(text):
        raise UnreadableDocumentError(f"{source} is binary")
    if is_blank(text):
        raise UnreadableDocumentError(f"{source} is blank")
    if encoding == "utf-8":
        return Decoded(text)
    return Decoded(text, f"{source} is not UTF-8; it was read as {encoding}")


def _text(data: bytes, declared: str | None) -> tuple[str | None, str]:
    text = _decoded(data, "utf-8-sig")
    if text is not None and "\0" not in text:
        return text, "utf-8"
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    for name in (marked, declared):
        if name is not None and (text := _decoded(data, name)) is not None:
            return text, name
    detected = _wide(data) if b"\0" in data else _detected(data)
    if detected is None:
        return None, ""
    return _decoded(data, detected), detected


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _wide(data: bytes) -> str | None:
    """UTF-16 without a mark: its NUL bytes are the upper halves of ASCII characters."""
    even, odd = data[::2].count(0), data[1::2].count(0)
    if even and odd:
        return None
    encoding = "utf-16-be" if even else "utf-16-le"
    text = _decoded(data, encoding)
    if text is None:
        return None
    known = all(unicodedata.category(char) not in ("Cn", "Co", "Cs") for char in text[:_SAMPLE])
    return encoding if known else None


def _detected(data: bytes) -> str | None:
    from charset_normalizer import from_bytes

    sample = _sample(data)
    matches = from_bytes(sample)
    best = matches.best()
    if best is None:
        return "gb18030" if _is_chinese(sample) else None
    names = [match.encoding for match in matches]
    if "gb18030" in names and _is_chinese(sample):
        return "gb18030"
    alike = (
        match.encoding
        for match in matches
        if match.chaos <= best.chaos + _ALIKE and match.coherence >= best.coherence - _ALIKE
    )
    return _WESTERN if _WESTERN in alike else best.encoding


def _sample(data: bytes) -> bytes:
    """A beginning of *data* that ends with a line, so that no character is cut."""
    if len(data) <= _SAMPLE:
        return data
    end = data.rfind(b"\n", 0, _SAMPLE)
    return data[: end + 1] if end >= 0 else data


def _is_chinese(data: bytes) -> bool:
    """Whether *data*, read as GB18030, is mostly common Chinese characters."""
    text = _decoded(data, "gb18030")
    if text is None or _KANA.search(text):
        return False
    foreign = [char for char in text if not char.isascii()]
    common = sum(_COMMON_HANZI.fullmatch(char.encode("gb18030")) is not None for char in foreign)
    return bool(foreign) and common >= _LEAST_HANZI_SHARE * len(foreign)
