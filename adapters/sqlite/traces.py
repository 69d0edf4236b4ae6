"""The records of lookups in the table `tool_invocation`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evidence_lookup.adapters.sqlite.database import SqliteDatabase
from evidence_lookup.adapters.sqlite.invocation_row import COLUMNS, invocation_of, row_of
from evidence_lookup.adapters.sqlite.texts import stored
from evidence_lookup.domain.errors import BackendFailedError
from evidence_lookup.domain.record import ToolInvocation

_SELECT = f"SELECT {', '.join(COLUMNS)} FROM tool_invocation"
_INSERT = f"""
    INSERT INTO tool_invocation VALUES ({", ".join("?" * len(COLUMNS))})
    ON CONFLICT (id) DO NOTHING
"""
_NEWEST_FIRST = "ORDER BY created_at DESC, id DESC LIMIT ?"
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
        found = await self._select("WHERE id = ?", stored(invocation_id))
        return found[0] if found else None

    async def recent(
        self, *, limit: int, session_id: str | None = None
    ) -> tuple[ToolInvocation, ...]:
        """At most *limit* records, newest first by `created_at`, then the later id first.

        With *session_id* only those of that session.

        Raises:
            BackendError: the file cannot be read.
        """
        most = min(max(limit, 0), _LARGEST_LIMIT)
        if session_id is None:
            return await self._select(_NEWEST_FIRST, most)
        return await self._select(f"WHERE session_id = ? {_NEWEST_FIRST}", stored(session_id), most)

    async def aclose(self) -> None:
        """Close the file; may be repeated, and used again after."""
        await self._database.aclose()

    async def _select(self, clauses: str, *parameters: object) -> tuple[ToolInvocation, ...]:
        return await self._database.read(
            lambda connection: tuple(
                map(self._invocation, connection.execute(f"{_SELECT} {clauses}", parameters))
            )
        )

    def _invocation(self, row: Sequence[Any]) -> ToolInvocation:
        try:
            return invocation_of(row)
        except (TypeError, ValueError) as error:
            raise BackendFailedError(
                f"{self._database.path}: the record {row[0]!r} cannot be read: {error}"
            ) from error
