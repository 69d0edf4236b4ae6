"""The records of lookups in the table `tool_invocation`."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar

from evidence_lookup.adapters.postgres.conditions import where_clause
from evidence_lookup.adapters.postgres.database import PostgresDatabase
from evidence_lookup.adapters.postgres.rows import rows_of, values_of
from evidence_lookup.adapters.postgres.settings import PostgresSettings
from evidence_lookup.adapters.postgres.texts import stored
from evidence_lookup.domain.invocation_summary import InvocationSummary
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.trace_filter import EVERY_TRACE, TraceFilter

if TYPE_CHECKING:
    from evidence_lookup.adapters.postgres.connection import Connection

T = TypeVar("T")
_COLUMNS = (
    "id, tool_name, session_id, query, evidence_status, retrieval_layer, candidate_count, "
    "block_count, duration_seconds, timings, created_at, retrieval_details, schema_version"
)
_INSERT = f"""
    INSERT INTO {{tool_invocation}} ({_COLUMNS})
    SELECT {_COLUMNS} FROM json_to_recordset(%s::json) AS record (
        id text, tool_name text, session_id text, query text, evidence_status text,
        retrieval_layer text, candidate_count bigint, block_count bigint,
        duration_seconds double precision, timings json, created_at timestamptz,
        retrieval_details jsonb, schema_version bigint
    )
    ON CONFLICT (id) DO NOTHING
"""
_SELECT = "SELECT row_to_json(one)::text FROM {tool_invocation} AS one"
_SELECT_SUMMARY = """
    SELECT json_build_object(
        'id', id, 'session_id', session_id, 'query', query, 'evidence_status', evidence_status,
        'candidate_count', candidate_count, 'block_count', block_count,
        'duration_seconds', duration_seconds, 'timings', timings, 'created_at', created_at,
        'fallback_reason', retrieval_details -> 'fallback_reason'
    )::text FROM {tool_invocation}
"""
_NEWEST_FIRST = "ORDER BY created_at DESC, id DESC LIMIT %s"
_FIRST_BEYOND = """
    SELECT created_at, id FROM {tool_invocation} ORDER BY created_at DESC, id DESC OFFSET %s LIMIT 1
"""
# What is compared with null does not hold.
_OUTLIVED = "created_at < %s::timestamptz OR (created_at, id) <= (%s::timestamptz, %s::text)"
_COUNT = f"SELECT count(*) FROM {{tool_invocation}} WHERE {_OUTLIVED}"
_DELETE_SOME = f"""
    DELETE FROM {{tool_invocation}} WHERE id IN (
        SELECT id FROM {{tool_invocation}} WHERE {_OUTLIVED}
        ORDER BY created_at, id LIMIT %s FOR UPDATE SKIP LOCKED
    )
"""
_AT_ONCE = 2_000
_LARGEST_LIMIT = 2**63 - 1


class PostgresTraces:
    """Records of lookups in a PostgreSQL database that several hosts share.

    The tables are made by `migrate`; until then all raises CollectionMissingError. All raises
    BackendTimeoutError where the server does not answer within `timeout_seconds`.
    """

    def __init__(self, settings: PostgresSettings) -> None:
        """Nothing is opened yet."""
        self._database = PostgresDatabase(settings)

    async def record(self, invocations: Sequence[ToolInvocation]) -> None:
        """Store *invocations*: all or none. One whose id is stored already is left as it is.

        Raises:
            StorageError: the server's disk is full.
            BackendError: the server does not answer, or refuses.
        """
        if not invocations:
            return
        # Hosts that store the same records at once wait for one another, in one order.
        in_order = sorted(invocations, key=lambda one: one.id)
        records = await rows_of(in_order)

        async def work(connection: "Connection") -> None:
            await connection.execute(self._database.statement(_INSERT), [records])

        await self._database.run(work)

    async def get(self, invocation_id: str) -> ToolInvocation | None:
        """The record of that id, equal to what was recorded, or None.

        Raises:
            BackendError: the server does not answer, or refuses.
        """
        found = await self._read(
            ToolInvocation, f"{_SELECT} WHERE id = %s", [stored(invocation_id)]
        )
        return found[0] if found else None

    async def recent(
        self, *, limit: int, where: TraceFilter = EVERY_TRACE
    ) -> tuple[ToolInvocation, ...]:
        """At most *limit* records that pass *where*, newest first by `created_at`, then by id.

        Raises:
            BackendError: the server does not answer, or refuses.
        """
        return await self._newest(ToolInvocation, _SELECT, limit, where)

    async def summaries(
        self, *, limit: int, where: TraceFilter = EVERY_TRACE
    ) -> tuple[InvocationSummary, ...]:
        """As `recent`, without the details of each record, which are not sent.

        Raises:
            BackendError: the server does not answer, or refuses.
        """
        return await self._newest(InvocationSummary, _SELECT_SUMMARY, limit, where)

    async def prune(
        self, *, before: datetime | None = None, keep: int | None = None, dry_run: bool = False
    ) -> int:
        """Remove what was made before *before*, and all but the newest *keep*; how many went.

        They go in steps, oldest first: an error leaves the rest for the next time.

        Raises:
            StorageError: the server's disk is full.
            BackendError: the server does not answer, or refuses.
        """
        newest_to_go: Sequence[Any] = (None, None)
        if keep is not None:
            found = await self._database.rows(_FIRST_BEYOND, [_bounded(keep)])
            newest_to_go = found[0] if found else newest_to_go
        outlived = [before, *newest_to_go]
        if outlived == [None, None, None]:
            return 0
        if dry_run:
            ((count,),) = await self._database.rows(_COUNT, outlived)
            return int(count)

        async def some(connection: "Connection") -> int:
            statement = self._database.statement(_DELETE_SOME)
            return (await connection.execute(statement, [*outlived, _AT_ONCE])).rowcount

        gone = last = await self._database.run(some)
        while last == _AT_ONCE:
            last = await self._database.run(some)
            gone += last
        return gone

    async def aclose(self) -> None:
        """Close the connections; may be repeated, and used again after."""
        await self._database.aclose()

    async def _newest(
        self, cls: type[T], select: LiteralString, limit: int, where: TraceFilter
    ) -> tuple[T, ...]:
        clause, parameters = where_clause(where)
        return await self._read(
            cls, f"{select} {clause} {_NEWEST_FIRST}", [*parameters, _bounded(limit)]
        )

    async def _read(
        self, cls: type[T], select: LiteralString, parameters: Sequence[object]
    ) -> tuple[T, ...]:
        return await values_of(cls, await self._database.rows(select, parameters))


def _bounded(limit: int) -> int:
    return min(max(limit, 0), _LARGEST_LIMIT)
