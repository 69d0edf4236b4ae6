"""The one place where the driver's errors become this library's."""

from collections.abc import Generator
from contextlib import contextmanager

import psycopg

from evidence_lookup.adapters.postgres.conninfo import place, without_password
from evidence_lookup.adapters.postgres.settings import PostgresSettings
from evidence_lookup.adapters.quiet_loggers import QuietLoggers
from evidence_lookup.domain.errors import (
    BackendError,
    BackendFailedError,
    BackendTimeoutError,
    BackendUnavailableError,
    CollectionMissingError,
    StorageError,
)

_MAX_TEXT = 300
_LOGGERS = QuietLoggers("psycopg")

_TIMEOUT = {"57014", "55P03", "25P03"}
_MISSING = {"42P01", "3F000"}
_STORAGE = {"53100", "58030"}
_NOT_NOW = {"53200", "53300", "57P01", "57P02", "57P03", "57P05", "40001", "40P01"}
_CONNECTION_CLASS = "08"
_READ_ONLY = "25006"
_WHO = {"28000", "28P01", "3D000", "42501"}

# A refused connection carries no code, only words, which are English or the server's own language.
_SAID_NOT_NOW = ("starting up", "shutting down", "recovery mode", "not yet accepting", "too many",
                 "connection slots", "not accepting connections", "closed the connection",
                 "closed unexpectedly", "SSL SYSCALL", "unexpected eof")  # fmt: skip
_SAID_UNTRUSTED = ("certificate", "support SSL", "SSL error", "no encryption", "GSSAPI")
_SAID_REFUSED = ("FATAL", "password", "authentication", "pg_hba", "fe_sendauth", "SCRAM")


@contextmanager
def translated(settings: PostgresSettings) -> Generator[None, None, None]:
    """Raise what the driver raises inside as an error of this library, and keep its log quiet."""
    try:
        with _LOGGERS.quiet():
            yield
    except psycopg.Error as error:
        raise translate(error, settings) from error
    except OSError as error:
        raise BackendUnavailableError(
            f"PostgreSQL at {place(settings)} (postgres.url) does not answer: {error}"
        ) from error


def translate(error: psycopg.Error, settings: PostgresSettings) -> BackendError:
    """The error of this library that says what *error* means."""
    where = f"PostgreSQL at {place(settings)} (postgres.url)"
    # Not the whole text: the server's details quote values of rows.
    text = _line(without_password(error.diag.message_primary or str(error), settings))
    state = error.sqlstate or ""
    if not state:
        return _not_connected(error, where, text)
    if state in _TIMEOUT:
        return BackendTimeoutError(
            f"{where} was not done within {settings.timeout_seconds:g} s "
            f"(postgres.timeout-seconds): {text}"
        )
    if state in _MISSING:
        return CollectionMissingError(
            f"{where} has no tables of ours in the schema {settings.schema!r} (postgres.schema): "
            f"run `evidence-lookup migrate` ({text})"
        )
    if state in _STORAGE:
        return StorageError(f"{where} cannot write, its disk is full or faulty: {text}")
    if state in _NOT_NOW or state.startswith(_CONNECTION_CLASS):
        return BackendUnavailableError(f"{where} cannot serve now: {text}")
    if state == _READ_ONLY:
        return BackendFailedError(
            f"{where} can only be read, as a standby can; name the primary, or all of them with "
            f"target_session_attrs=read-write: {text}"
        )
    if state in _WHO:
        return BackendFailedError(
            f"{where} does not let this user in, or at the tables of the schema "
            f"{settings.schema!r} (postgres.schema): {text}"
        )
    return BackendFailedError(f"{where} refused ({state}): {text}")


def _not_connected(error: psycopg.Error, where: str, text: str) -> BackendError:
    if isinstance(error, psycopg.errors.ConnectionTimeout):
        return BackendTimeoutError(
            f"{where} gave no answer in time (postgres.connect-timeout-seconds): {text}"
        )
    if not isinstance(error, psycopg.OperationalError):
        return BackendFailedError(f"{where} refused ({type(error).__name__}): {text}")
    if not any(word in text for word in _SAID_NOT_NOW):
        if any(word in text for word in _SAID_UNTRUSTED):
            return BackendFailedError(
                f"{where} and this user do not agree on encryption (sslmode, sslrootcert): {text}"
            )
        if _was_asked_for_password(error) or any(word in text for word in _SAID_REFUSED):
            return BackendFailedError(
                f"{where} does not let this user into this database, check user, password and "
                f"database: {text}"
            )
    return BackendUnavailableError(f"{where} does not answer: {text}")


def _was_asked_for_password(error: psycopg.Error) -> bool:
    """Whether the server came as far as that: one that cannot serve now does not."""
    connection = error.pgconn
    return connection is not None and (connection.used_password or connection.needs_password)


def _line(text: str, limit: int = _MAX_TEXT) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[:limit]}…"
