"""One connection that threads take in turn."""

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from evidence_lookup.adapters.sqlite.faults import mapped
from evidence_lookup.adapters.sqlite.opening import open_connection

T = TypeVar("T")


class Channel:
    """Opened at first use, and anew after an error, after `close`, or when the file is another."""

    def __init__(self, path: Path, *, begin: str, busy_timeout_seconds: float) -> None:
        """Nothing is opened yet; *begin* is the statement that begins a transaction."""
        self._path = path
        self._begin = begin
        self._busy_timeout_seconds = busy_timeout_seconds
        self._turn = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What *work* returns; done in one transaction, which is undone if it raises.

        Raises:
            BackendError: the database cannot be used.
        """
        with self._turn, mapped(self._path):
            connection = self._current()
            try:
                connection.execute(self._begin)
                done = work(connection)
                connection.execute("COMMIT")
            except sqlite3.Error:
                # The file may be beyond repair by this connection; the next one sees what is.
                self._drop()
                raise
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            return done

    def close(self) -> None:
        """Close the connection if there is one, after the work in hand."""
        with self._turn, mapped(self._path):
            self._drop()

    def _current(self) -> sqlite3.Connection:
        # A file that was deleted or replaced would be written to unseen.
        if self._connection is not None and self._file != self._on_disk():
            self._drop()
        if self._connection is None:
            self._connection = open_connection(
                self._path, busy_timeout_seconds=self._busy_timeout_seconds
            )
            self._file = self._on_disk()
        return self._connection

    def _on_disk(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
