"""What the PostgreSQL adapter says of faults, and of what it lacks; no server needed."""

import subprocess
import sys

import psycopg
import pytest
from psycopg import errors

from evidence_lookup.adapters.postgres import PostgresSettings, PostgresTraces
from evidence_lookup.adapters.postgres.faults import translate, translated
from evidence_lookup.domain.errors import (
    BackendError,
    BackendFailedError,
    BackendTimeoutError,
    BackendUnavailableError,
    CollectionMissingError,
    MissingExtraError,
    StorageError,
)

_SETTINGS = PostgresSettings("postgresql://user:kept-secret@one:5432,two:5433/database")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.DiskFull("no space left"), StorageError),
        (errors.IoError("could not write"), StorageError),
        (errors.TooManyConnections("too many"), BackendUnavailableError),
        (errors.CannotConnectNow("starting up"), BackendUnavailableError),
        (errors.AdminShutdown("terminating"), BackendUnavailableError),
        (errors.CrashShutdown("terminating"), BackendUnavailableError),
        (errors.DeadlockDetected("deadlock"), BackendUnavailableError),
        (errors.ConnectionFailure("lost"), BackendUnavailableError),
        (errors.QueryCanceled("statement timeout"), BackendTimeoutError),
        (errors.LockNotAvailable("lock timeout"), BackendTimeoutError),
        (errors.ConnectionTimeout("expired"), BackendTimeoutError),
        (errors.UndefinedTable("no relation"), CollectionMissingError),
        (errors.InvalidSchemaName("no schema"), CollectionMissingError),
        (errors.InvalidPassword("password"), BackendFailedError),
        (errors.InsufficientPrivilege("denied"), BackendFailedError),
        (errors.ReadOnlySqlTransaction("read-only"), BackendFailedError),
        (errors.DataCorrupted("checksum"), BackendFailedError),
        (psycopg.OperationalError("server closed the connection"), BackendUnavailableError),
        (psycopg.OperationalError("SSL connection has been closed unexpectedly"),
         BackendUnavailableError),
        (psycopg.OperationalError("SSL SYSCALL error: EOF detected"), BackendUnavailableError),
        (psycopg.OperationalError("server does not support SSL, but SSL was required"),
         BackendFailedError),
        (psycopg.OperationalError("FATAL:  the database system is starting up"),
         BackendUnavailableError),
        (psycopg.OperationalError("FATAL:  sorry, too many clients already"),
         BackendUnavailableError),
        (psycopg.OperationalError("FATAL:  password authentication failed"), BackendFailedError),
        (psycopg.OperationalError("fe_sendauth: no password supplied"), BackendFailedError),
        (psycopg.OperationalError("SSL error: certificate verify failed"), BackendFailedError),
        (psycopg.InterfaceError("cursor closed"), BackendFailedError),
    ],
)  # fmt: skip
def test_each_fault_has_its_error(error: psycopg.Error, kind: type[BackendError]) -> None:
    """By the server's code or, where a connection was refused, by its words; with the place."""
    made = translate(error, _SETTINGS)
    assert type(made) is kind
    assert "one:5432, two:5433 (postgres.url)" in str(made)
    assert len(str(made)) < 600


def test_a_password_in_a_drivers_text_is_left_out() -> None:
    """Whatever the driver says, and how long it is."""
    with pytest.raises(BackendUnavailableError) as caught, translated(_SETTINGS):
        raise psycopg.OperationalError("kept-secret " * 100)
    assert "kept-secret" not in str(caught.value)


@pytest.mark.parametrize("lacking", ["psycopg", "psycopg.pq"])
async def test_a_missing_driver_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    """Whether it is not installed, or does not find PostgreSQL's library."""
    monkeypatch.delitem(sys.modules, "psycopg")
    monkeypatch.setitem(sys.modules, lacking, None)
    with pytest.raises(MissingExtraError, match=r"evidence-lookup\[postgres\]"):
        await PostgresTraces(_SETTINGS).get("a")


def test_the_driver_is_read_at_first_use_only() -> None:
    """Importing the adapter reads neither psycopg nor its parts."""
    code = "import sys, evidence_lookup.adapters.postgres; print('psycopg' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
