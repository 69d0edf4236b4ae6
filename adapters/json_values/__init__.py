"""Values of the domain as plain JSON, and back."""

from evidence_lookup.adapters.json_values.quick import dumps_utf8
from evidence_lookup.adapters.json_values.text import decode, encode
from evidence_lookup.adapters.json_values.values import dumps, from_json, to_json

__all__ = ["decode", "dumps", "dumps_utf8", "encode", "from_json", "to_json"]
