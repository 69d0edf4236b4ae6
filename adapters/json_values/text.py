"""JSON text that any file, column or socket takes."""

import json
import re
from typing import Any

# Looking for circles would cost a third of the time, and a circle is an error either way.
_JSON = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def encode(plain: Any) -> str:
    """*plain* (dicts, lists, texts, numbers) as compact JSON that UTF-8 can encode.

    Characters stand for themselves; a lone surrogate is written as its escape, which every JSON
    reader takes. A high one right before a low one is read back as the character they make up.

    Raises:
        ValueError: a number is NaN or infinite.
        TypeError: there is something that JSON does not know.
    """
    text = _JSON.encode(plain)
    try:
        text.encode()
    except UnicodeEncodeError:
        # In JSON text a surrogate can only stand inside a string, where an escape means the same.
        return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text


def decode(text: str) -> Any:
    """What `encode` made *text* of.

    Raises:
        ValueError: *text* is not JSON.
    """
    return json.loads(text)
