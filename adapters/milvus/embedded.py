"""The embedded database: one file, one process, one server child for all clients of the process."""

import fcntl
import os
import threading
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from evidence_lookup.domain.errors import (
    BackendFailedError,
    MissingExtraError,
    SettingsError,
    StorageError,
    StoreHeldError,
)

_MAX_NAME = 36
_lock = threading.Lock()
_leases: dict[Path, tuple[int, FileLock]] = {}


def acquire(path: Path) -> str:
    """The address of the server on *path*, started if it does not run; blocks up to a second.

    Each call needs a `release`.

    Raises:
        MissingExtraError: `milvus_lite` is not installed.
        SettingsError: the file's name is one that it does not take.
        StoreHeldError: another process has the file open.
        StorageError: the folder cannot be written.
    """
    _check_name(path)
    with _lock:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _not_writable(path, error) from error
        count, held = _leases.get(path) or (0, _hold(path))
        try:
            address = _start(path)
        except BaseException:
            if not count:
                held.release()
            raise
        _leases[path] = (count + 1, held)
        return address


class Lease:
    """A running server on a file, until it is given back."""

    def __init__(self, path: Path) -> None:
        """As `acquire`; blocks."""
        self._path = path
        self._is_given_back = False
        self.address = acquire(path)

    def give_back(self) -> None:
        """As `release`, once; repeating is safe. May block."""
        with _lock:
            is_given_back, self._is_given_back = self._is_given_back, True
        if not is_given_back:
            release(self._path)


def release(path: Path) -> None:
    """Give one lease back; with the last one the server ends and the file is free. May block."""
    with _lock:
        count, held = _leases.pop(path, (0, None))
        if count > 1 and held is not None:
            _leases[path] = (count - 1, held)
        elif held is not None:
            _stop(path)
            held.release()


def is_running(path: Path) -> bool:
    """Whether a server runs on *path*; one that has died is cleared away."""
    with _lock:
        server = _manager()._servers.get(str(path)) if path in _leases else None
        child = getattr(server, "_p", None)
        if child is None:
            return False
        if child.poll() is None:
            return True
        _stop(path)
        return False


def _check_name(path: Path) -> None:
    name = path.name
    allowed = name.isascii() and all(char.isalnum() or char in ".-_" for char in name)
    if not allowed or len(name) > _MAX_NAME or not name:
        raise SettingsError(
            [
                f"milvus.uri: the file name {name!r} must be 1 to {_MAX_NAME} letters, "
                "digits, . - or _"
            ]
        )


def _hold(path: Path) -> FileLock:
    # milvus-lite has a lock of its own, but a second process that meets it deletes it on its way
    # out, and a third one then opens the same file. This one stays.
    lock = FileLock(path.with_name(f".{path.name}.held"), timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise _held(path) from error
    except OSError as error:
        raise _not_writable(path, error) from error
    return lock


def _refuse_if_open_elsewhere(path: Path) -> None:
    """Ask milvus-lite's own lock, for a program that holds the file without this library."""
    its_lock = path.with_name(f".{path.name}.lock")
    if not its_lock.exists():
        return
    with its_lock.open("a") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise _held(path) from error


def _held(path: Path) -> StoreHeldError:
    return StoreHeldError(
        f"another process has the database {path} (milvus.uri) open, and only one can: "
        "end it, or use a Milvus server"
    )


def _not_writable(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"the folder of the database {path} (milvus.uri) cannot be written: {error.strerror}"
    )


def _manager() -> Any:
    try:
        # A person at a terminal can do nothing about it. Not for a time only, since that would undo
        # what other threads' imports say of warnings meanwhile.
        warnings.filterwarnings("ignore", message=".*pkg_resources")
        return import_module("milvus_lite.server_manager").server_manager_instance
    except ImportError as error:
        raise MissingExtraError("local", "an embedded Milvus database") from error


def _start(path: Path) -> str:
    manager = _manager()
    # Kept in the driver's own table: a client that the host opens itself finds the same server.
    with manager._lock:
        server = manager._servers.get(str(path))
        if server is None:
            _refuse_if_open_elsewhere(path)
            server = _quiet_server(path)
            if not (server.init() and server.start()):
                raise _start_failure(path)
            manager._servers[str(path)] = server
        return str(server.uds_path)


def _stop(path: Path) -> None:
    manager = _manager()
    if str(path) in manager._servers:
        manager.release_server(str(path))


def _quiet_server(path: Path) -> Any:
    """A server that prints nothing; each refusal comes back through the client."""
    server: Any = import_module("milvus_lite.server").Server

    def args(self: Any) -> list[str]:
        return ["/bin/sh", "-c", 'exec "$0" "$@" >/dev/null 2>&1', *server.args.fget(self)]

    return type("QuietServer", (server,), {"args": property(args)})(str(path))


def _start_failure(path: Path) -> Exception:
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        return StorageError(f"the database {path} (milvus.uri) cannot be written")
    return BackendFailedError(
        f"the embedded Milvus does not start on {path} (milvus.uri): the file is damaged, no "
        "database, or open in another program"
    )
