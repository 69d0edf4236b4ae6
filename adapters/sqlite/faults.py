"""What SQLite and the file system say, as this library's errors."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from evidence_lookup.domain.errors import (
    BackendError,
    BackendFailedError,
    BackendTimeoutError,
    StorageError,
)

_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_UNUSABLE = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_PRIMARY = 0xFF
"""The bits of an extended error code that hold the primary one."""


@contextmanager
def mapped(path: Path) -> Generator[None]:
    """Raise what goes wrong with the database at *path* as a `BackendError` that names it."""
    try:
        yield
    except sqlite3.Error as error:
        raise _as_backend_error(error, path) from error
    except OverflowError as error:
        raise BackendFailedError(f"{path} cannot hold a number as large: {error}") from error
    except OSError as error:
        raise StorageError(
            f"{path} cannot be opened ({error.strerror or error}): see data-dir"
        ) from error


def _as_backend_error(error: sqlite3.Error, path: Path) -> BackendError:
    # The module's own complaints carry no code.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY
    if code in _LOCKED:
        return BackendTimeoutError(
            f"{path} stayed locked by another process or task: try again, or end what holds it"
        )
    if code == sqlite3.SQLITE_FULL:
        return StorageError(
            f"{path} cannot grow, the disk is full: free some space, or set data-dir to a folder "
            "on another disk"
        )
    if code in _UNUSABLE:
        return StorageError(
            f"{path} cannot be opened or written ({error}): check its folder's rights and free "
            "space, or set data-dir to another folder"
        )
    if code in _DAMAGED:
        return BackendFailedError(
            f"{path} is damaged or no SQLite database ({error}): move it away and ingest again, "
            "or set data-dir to another folder"
        )
    return BackendFailedError(f"{path}: SQLite refuses: {error}")
