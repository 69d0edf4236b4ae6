"""Texts that PostgreSQL takes: any Python text goes in and comes out the same.

It can hold neither NUL nor lone surrogates. These are written as a lead character and the four
hexadecimal digits of their code, and so is each lead itself: NUL is ``\\x010000``, ``\\x01`` is
``\\x010001``; U+DC80 is ``\\ud7ffdc80``, and U+D7FF, which no script uses, ``\\ud7ffd7ff``. As each
lead stands right where what it leads would stand, texts sort as before, by their characters.
"""

import re

_ODD = re.compile("[\0\x01\ud7ff-\udfff]")
_CONTROL_LEAD, _SURROGATE_LEAD = "\x01", "\ud7ff"

# In JSON text; of other escapes the backslash is passed over together with what it escapes.
_MAY_BE_ODD = re.compile(r"\\u000[01]|\\ud[89a-f]|" + _SURROGATE_LEAD)
_ODD_IN_JSON = re.compile(r"\\(?:u(000[01]|d[89a-f][0-9a-f]{2})|.)|" + _SURROGATE_LEAD)
_MAY_BE_ESCAPED = re.compile(r"\\u0001|" + _SURROGATE_LEAD)
_ESCAPED_IN_JSON = re.compile(
    rf"\\(?:u0001(000[01])|.)|{_SURROGATE_LEAD}(d7ff|d[89a-f][0-9a-f]{{2}})"
)


def stored(text: str) -> str:
    """*text* as a column holds it."""
    return _ODD.sub(_escaped, text)


def stored_json(text: str) -> str:
    """The JSON *text* of `json_values.encode`, its strings and keys as columns hold them."""
    return _ODD_IN_JSON.sub(_escaped_in_json, text) if _MAY_BE_ODD.search(text) else text


def loaded_json(text: str) -> str:
    """The JSON whose strings `stored` or `stored_json` wrote, as the server gives it."""
    return _ESCAPED_IN_JSON.sub(_plain_in_json, text) if _MAY_BE_ESCAPED.search(text) else text


def _escaped(found: re.Match[str]) -> str:
    lead = _CONTROL_LEAD if found[0] <= _CONTROL_LEAD else _SURROGATE_LEAD
    return f"{lead}{ord(found[0]):04x}"


def _escaped_in_json(found: re.Match[str]) -> str:
    digits = found[1]
    if digits is None:
        return f"{_SURROGATE_LEAD}d7ff" if found[0] == _SURROGATE_LEAD else found[0]
    return f"\\u0001{digits}" if digits.startswith("0") else f"{_SURROGATE_LEAD}{digits}"


def _plain_in_json(found: re.Match[str]) -> str:
    digits = found[1] or found[2]
    return f"\\u{digits}" if digits else found[0]
