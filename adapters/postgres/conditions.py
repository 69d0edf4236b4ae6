"""What a filter of records is in SQL: conditions with parameters, never values in the text."""

from typing import LiteralString

from evidence_lookup.adapters.json_values import encode
from evidence_lookup.adapters.postgres.texts import stored, stored_json
from evidence_lookup.domain.trace_filter import TraceFilter

# As the index has it.
_HAS_KEY = "retrieval_details -> 'evidence_blocks' @> %s::jsonb"


def where_clause(where: TraceFilter) -> tuple[LiteralString, list[object]]:
    """``WHERE …`` for *where* with its parameters, or nothing where nothing is asked."""
    conditions: list[LiteralString] = []
    parameters: list[object] = []
    if where.session_id is not None:
        conditions.append("session_id = %s")
        parameters.append(stored(where.session_id))
    if where.evidence_status is not None:
        conditions.append("evidence_status = %s")
        parameters.append(where.evidence_status.value)
    if where.since is not None:
        conditions.append("created_at >= %s")
        parameters.append(where.since)
    if where.until is not None:
        conditions.append("created_at < %s")
        parameters.append(where.until)
    if where.evidence_key is not None:
        conditions.append(_HAS_KEY)
        parameters.append(stored_json(encode([{"evidence_key": where.evidence_key}])))
    return ("WHERE " + " AND ".join(conditions) if conditions else ""), parameters
