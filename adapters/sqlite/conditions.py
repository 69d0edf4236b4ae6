"""What a filter of records is in SQL: conditions with parameters, never values in the text."""

from datetime import datetime

from evidence_lookup.adapters.json_values import encode, to_json
from evidence_lookup.adapters.sqlite.texts import stored
from evidence_lookup.domain.trace_filter import TraceFilter

# Compared as JSON, which has an escape for what a text of SQLite cannot hold.
_HAS_KEY = """
    EXISTS (
        SELECT 1 FROM json_each(retrieval_details, '$.evidence_blocks')
        WHERE value -> '$.evidence_key' = ?
    )
"""


def where_clause(where: TraceFilter) -> tuple[str, list[object]]:
    """``WHERE …`` for *where* with its parameters, or nothing where nothing is asked."""
    conditions: list[tuple[str, object]] = []
    if where.session_id is not None:
        conditions.append(("session_id = ?", stored(where.session_id)))
    if where.evidence_status is not None:
        conditions.append(("evidence_status = ?", where.evidence_status.value))
    if where.since is not None:
        conditions.append(("created_at >= ?", moment(where.since)))
    if where.until is not None:
        conditions.append(("created_at < ?", moment(where.until)))
    if where.evidence_key is not None:
        conditions.append((_HAS_KEY, encode(where.evidence_key)))
    if not conditions:
        return "", []
    clauses, parameters = zip(*conditions, strict=True)
    return f"WHERE {' AND '.join(clauses)}", list(parameters)


def moment(time: datetime) -> str:
    """*time* as the column `created_at` holds it."""
    return str(to_json(time))
