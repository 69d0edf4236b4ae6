"""The record of a lookup as a row of `tool_invocation`."""

from collections.abc import Sequence
from typing import Any

from evidence_lookup.adapters.json_values import decode, dumps_utf8, from_json, to_json
from evidence_lookup.adapters.sqlite.texts import loaded, stored
from evidence_lookup.domain.invocation_summary import InvocationSummary
from evidence_lookup.domain.record import ToolInvocation

COLUMNS = (
    "id", "tool_name", "session_id", "query", "evidence_status", "retrieval_layer",
    "candidate_count", "block_count", "duration_seconds", "timings", "created_at",
    "retrieval_details", "schema_version",
)  # fmt: skip
SUMMARY_COLUMNS = (
    "id", "session_id", "query", "evidence_status", "candidate_count", "block_count",
    "duration_seconds", "timings", "created_at",
    "json_extract(retrieval_details, '$.fallback_reason') AS fallback_reason",
)  # fmt: skip
_JSON_COLUMNS = frozenset({"timings", "retrieval_details"})
_SUMMARY_NAMES = tuple(column.split()[-1] for column in SUMMARY_COLUMNS)


def row_of(invocation: ToolInvocation) -> tuple[object, ...]:
    """The values of `COLUMNS`: the record's JSON, one key to a column.

    Times are of one width, so that they sort as text.
    """
    return tuple(_column(name, getattr(invocation, name)) for name in COLUMNS)


def invocation_of(row: Sequence[Any]) -> ToolInvocation:
    """The record that `row_of` made *row* of.

    Raises:
        TypeError, ValueError: the row is damaged, or of a later version.
    """
    return from_json(ToolInvocation, _plain(COLUMNS, row))


def summary_of(row: Sequence[Any]) -> InvocationSummary:
    """The summary that the values of `SUMMARY_COLUMNS` make up.

    Raises:
        TypeError, ValueError: the row is damaged, or of a later version.
    """
    return from_json(InvocationSummary, _plain(_SUMMARY_NAMES, row))


def _plain(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return {
        name: decode(value)
        if name in _JSON_COLUMNS
        else loaded(value)
        if isinstance(value, bytes)
        else value
        for name, value in zip(names, row, strict=True)
    }


def _column(name: str, value: Any) -> object:
    if name in _JSON_COLUMNS:
        return dumps_utf8(value).decode()
    plain = to_json(value)
    return stored(plain) if isinstance(plain, str) else plain
