"""The records of lookups in the table `tool_invocation`."""

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from evidence_lookup.adapters.sqlite.conditions import moment, where_clause
from evidence_lookup.adapters.sqlite.database import SqliteDatabase
from evidence_lookup.adapters.sqlite.invocation_row import (
    COLUMNS,
    SUMMARY_COLUMNS,
    invocation_of,
    row_of,
    summary_of,
)
from evidence_lookup.adapters.sqlite.texts import stored
from evidence_lookup.domain.errors import BackendFailedError
from evidence_lookup.domain.invocation_summary import InvocationSummary
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.trace_filter import EVERY_TRACE, TraceFilter

T = TypeVar("T")
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM tool_invocation"
_SELECT_SUMMARY = f"SELECT {', '.join(SUMMARY_COLUMNS)} FROM tool_invocation"
_INSERT = f"""
    INSERT INTO tool_invocation VALUES ({", ".join("?" * len(COLUMNS))})
    ON CONFLICT (id) DO NOTHING
"""
_NEWEST_FIRST = "ORDER BY created_at DESC, id DESC LIMIT ?"
_OUTLIVED = """
    FROM tool_invocation WHERE created_at < ? OR id IN (
        SELECT id FROM tool_invocation ORDER BY created_at DESC, id DESC LIMIT -1 OFFSET ?
    )
"""
_LARGEST_LIMIT = 2**63 - 1


class SqliteTraces:
    """Records of lookups in a SQLite file, which catalogues and other traces may share."""

    def __init__(self, path: Path | str, *, busy_timeout_seconds: float = 5.0) -> None:
        """Nothing is opened yet; the file and its folder are made at first use."""
        self._database = SqliteDatabase(path, busy_timeout_seconds=busy_timeout_seconds)

    async def record(self, invocations: Sequence[ToolInvocation]) -> None:
        """Store *invocations*: all or none. One whose id is stored already is left as it is.

        Raises:
            StorageError: the disk is full, or the file cannot be written.
            BackendError: the file cannot be used.
        """
        if not invocations:
            return
        await self._database.write(
            lambda connection: connection.executemany(_INSERT, map(row_of, invocations))
        )

    async def get(self, invocation_id: str) -> ToolInvocation | None:
        """The record of that id, equal to what was recorded, or None.

        Raises:
            BackendError: the file cannot be read.
        """
        found = await self._read(f"{_SELECT} WHERE id = ?", [stored(invocation_id)], invocation_of)
        return found[0] if found else None

    async def recent(
        self, *, limit: int, where: TraceFilter = EVERY_TRACE
    ) -> tuple[ToolInvocation, ...]:
        """At most *limit* records that pass *where*, newest first by `created_at`, then by id.

        Raises:
            BackendError: the file cannot be read.
        """
        return await self._newest(_SELECT, limit, where, invocation_of)

    async def summaries(
        self, *, limit: int, where: TraceFilter = EVERY_TRACE
    ) -> tuple[InvocationSummary, ...]:
        """As `recent`, without the details of each record.

        Raises:
            BackendError: the file cannot be read.
        """
        return await self._newest(_SELECT_SUMMARY, limit, where, summary_of)

    async def prune(
        self, *, before: datetime | None = None, keep: int | None = None, dry_run: bool = False
    ) -> int:
        """Remove what was made before *before*, and all but the newest *keep*; how many went.

        Raises:
            StorageError: the file cannot be written.
            BackendError: the file cannot be used.
        """
        parameters = (
            "" if before is None else moment(before),
            _LARGEST_LIMIT if keep is None else min(max(keep, 0), _LARGEST_LIMIT),
        )

        def count(connection: sqlite3.Connection) -> int:
            (found,) = connection.execute(f"SELECT count(*) {_OUTLIVED}", parameters).fetchone()
            return int(found)

        def delete(connection: sqlite3.Connection) -> int:
            return connection.execute(f"DELETE {_OUTLIVED}", parameters).rowcount

        return await (self._database.read(count) if dry_run else self._database.write(delete))

    async def aclose(self) -> None:
        """Close the file; may be repeated, and used again after."""
        await self._database.aclose()

    async def _newest(
        self, select: str, limit: int, where: TraceFilter, make: Callable[[Sequence[Any]], T]
    ) -> tuple[T, ...]:
        clause, parameters = where_clause(where)
        most = min(max(limit, 0), _LARGEST_LIMIT)
        return await self._read(f"{select} {clause} {_NEWEST_FIRST}", [*parameters, most], make)

    async def _read(
        self, statement: str, parameters: Sequence[object], make: Callable[[Sequence[Any]], T]
    ) -> tuple[T, ...]:
        def one(row: Sequence[Any]) -> T:
            try:
                return make(row)
            except (TypeError, ValueError) as error:
                raise BackendFailedError(
                    f"{self._database.path}: the record {row[0]!r} cannot be read: {error}"
                ) from error

        return await self._database.read(
            lambda connection: tuple(map(one, connection.execute(statement, parameters)))
        )
