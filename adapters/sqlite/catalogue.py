"""The catalogue in the table `document`."""

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from evidence_lookup.adapters.sqlite.database import SqliteDatabase
from evidence_lookup.adapters.sqlite.document_row import COLUMNS, entry_of, row_of
from evidence_lookup.adapters.sqlite.texts import stored
from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.errors import BackendFailedError

_SELECT = f"SELECT {', '.join(COLUMNS)} FROM document"
_REPLACE = f"REPLACE INTO document VALUES ({', '.join('?' * len(COLUMNS))})"
_MOST_PARAMETERS = 500


class SqliteCatalogue:
    """The indexed documents in a SQLite file, which other catalogues and traces may share."""

    def __init__(self, path: Path | str, *, busy_timeout_seconds: float = 5.0) -> None:
        """Nothing is opened yet; the file and its folder are made at first use."""
        self._database = SqliteDatabase(path, busy_timeout_seconds=busy_timeout_seconds)

    async def entries(self) -> tuple[CatalogueEntry, ...]:
        """Every entry, ordered by `doc_id`.

        Raises:
            BackendError: the catalogue cannot be read.
        """

        def work(connection: sqlite3.Connection) -> tuple[CatalogueEntry, ...]:
            # Sorted here: the column holds odd texts as bytes, and rows lie in another order.
            found = map(self._entry, connection.execute(_SELECT))
            return tuple(sorted(found, key=lambda entry: entry.doc_id))

        return await self._database.read(work)

    async def get(self, doc_ids: Sequence[str]) -> dict[str, CatalogueEntry]:
        """The entries of *doc_ids*; one that is not there is left out.

        Raises:
            BackendError: the catalogue cannot be read.
        """
        if not doc_ids:
            return {}

        def work(connection: sqlite3.Connection) -> dict[str, CatalogueEntry]:
            found: dict[str, CatalogueEntry] = {}
            for part in _parts(doc_ids):
                marks = ", ".join("?" * len(part))
                rows = connection.execute(f"{_SELECT} WHERE doc_id IN ({marks})", part)
                found.update((entry.doc_id, entry) for entry in map(self._entry, rows))
            return found

        return await self._database.read(work)

    async def put(self, entries: Sequence[CatalogueEntry]) -> None:
        """Write *entries* in their order, each over the entry of the same `doc_id`: all or none.

        Raises:
            StorageError: the disk is full, or the file cannot be written.
            BackendError: the catalogue cannot be written.
        """
        if not entries:
            return

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany(_REPLACE, map(row_of, entries))
            _revise(connection)

        await self._database.write(work)

    async def remove(self, doc_ids: Sequence[str]) -> None:
        """Remove the entries of *doc_ids*: all or none; an unknown id is no error.

        Raises:
            StorageError: the disk is full, or the file cannot be written.
            BackendError: the catalogue cannot be written.
        """
        if not doc_ids:
            return

        def work(connection: sqlite3.Connection) -> None:
            before = connection.total_changes
            connection.executemany(
                "DELETE FROM document WHERE doc_id = ?", ((stored(one),) for one in doc_ids)
            )
            if connection.total_changes > before:
                _revise(connection)

        await self._database.write(work)

    async def revision(self) -> str:
        """A text that changes whenever an entry does, by whichever process; one small read.

        Raises:
            BackendError: the catalogue cannot be read.
        """

        def work(connection: sqlite3.Connection) -> str:
            (revision,) = connection.execute("SELECT revision FROM document_revision").fetchone()
            return str(revision)

        return await self._database.read(work)

    async def aclose(self) -> None:
        """Close the file; may be repeated, and used again after."""
        await self._database.aclose()

    def _entry(self, row: Sequence[Any]) -> CatalogueEntry:
        try:
            return entry_of(row)
        except (TypeError, ValueError) as error:
            raise BackendFailedError(
                f"{self._database.path}: the entry of {row[0]!r} is damaged ({error}): "
                "move the file away and ingest again"
            ) from error


def _revise(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE document_revision SET revision = lower(hex(randomblob(16)))")


def _parts(doc_ids: Sequence[str]) -> Iterator[list[str | bytes | None]]:
    rest = map(stored, doc_ids)
    while part := list(islice(rest, _MOST_PARAMETERS)):
        yield part
