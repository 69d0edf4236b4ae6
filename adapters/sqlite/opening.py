"""How a connection is opened."""

import sqlite3
import time
from pathlib import Path

from evidence_lookup.adapters.sqlite.schema import MIGRATIONS, migrate, version_of

_PAUSE_SECONDS = 0.01


def open_connection(path: Path, *, busy_timeout_seconds: float) -> sqlite3.Connection:
    """A connection to the database at *path*, made and brought up to date if need be.

    It begins no transaction by itself, and one thread at a time may use it.

    Raises:
        sqlite3.Error, OSError: the file cannot be opened.
        BackendFailedError: the file is another product's, or of a version not known here.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(
        path, timeout=busy_timeout_seconds, isolation_level=None, check_same_thread=False
    )
    try:
        # Before anything is written: the file may not be ours.
        version = version_of(connection, path)
        _write_ahead(connection, deadline=time.monotonic() + busy_timeout_seconds)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = OFF")
        if version < len(MIGRATIONS):
            migrate(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection, *, deadline: float) -> None:
    """Let readers and a writer work at once. File systems that cannot keep their own mode."""
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # SQLite does not wait here of itself when two processes open a new file at once.
            locked = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not locked or time.monotonic() >= deadline:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return
