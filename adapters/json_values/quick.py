"""JSON of records, which every lookup pays for."""

from typing import Any

from evidence_lookup.adapters.json_values.values import dumps


def dumps_utf8(value: Any) -> bytes:
    """As `dumps`, in UTF-8 and in a tenth of the time; for what `from_json` reads.

    Times keep their zone, and sets their order; paths are not taken.

    Raises:
        TypeError: *value* holds something that JSON does not know.
    """
    # Imported at first use, as cattrs is.
    from msgspec import json

    try:
        return json.encode(value)
    except UnicodeEncodeError:
        return dumps(value).encode()
