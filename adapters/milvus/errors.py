"""The one place where the driver's errors become this library's."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from evidence_lookup.adapters.milvus.settings import MilvusSettings
from evidence_lookup.adapters.quiet_loggers import QuietLoggers
from evidence_lookup.domain.errors import (
    BackendError,
    BackendFailedError,
    BackendTimeoutError,
    BackendUnavailableError,
    CollectionMissingError,
    EvidenceLookupError,
    StorageError,
)

_DATABASE_MISSING, _AUTHENTICATION = 800, (1400, 1401)
_UNAVAILABLE, _COLLECTION_MISSING = 2, 100
_NOT_LOADED = 101
_LOGGERS = QuietLoggers(
    "pymilvus.decorators",
    "pymilvus.client.connection_manager",
    "pymilvus.client.async_grpc_handler",
)


@contextmanager
def translated(settings: MilvusSettings) -> Generator[None, None, None]:
    """Raise what the driver raises inside as an error of this library.

    The driver logs each error with its traceback before it raises it; inside, that is left out,
    since the error arrives here.
    """
    try:
        with _LOGGERS.quiet():
            yield
    except (EvidenceLookupError, asyncio.CancelledError):
        raise
    except Exception as error:
        raise translate(error, settings) from error


def translate(error: Exception, settings: MilvusSettings) -> BackendError:
    """The error of this library that says what *error* means."""
    code, text = code_of(error), text_of(error)
    where = f"Milvus at {settings.uri} (milvus.uri)"
    match code:
        case "COLLECTION_MISSING":
            return CollectionMissingError(
                f"{where} has no collection {settings.collection!r} (milvus.collection); "
                "'evidence-lookup ingest PATH' makes it"
            )
        case "DATABASE_MISSING":
            return BackendFailedError(f"{where} has no database {settings.database!r} "
                                      f"(milvus.database): {text}")  # fmt: skip
        case "UNAUTHENTICATED" | "PERMISSION_DENIED":
            return BackendFailedError(f"{where} refuses the credentials (milvus.token): {text}")
        case "UNAVAILABLE":
            return BackendUnavailableError(f"{where} does not answer: {text}")
        case "DEADLINE_EXCEEDED":
            return BackendTimeoutError(
                f"{where} gave no answer within {settings.timeout_seconds:g} s "
                f"(milvus.timeout-seconds): {text}"
            )
        case _:
            if is_gone(settings):
                return gone(settings)
            if "disk" in text.lower() and "full" in text.lower():
                return StorageError(f"the disk of {settings.uri} (milvus.uri) is full: {text}")
            return BackendFailedError(f"{where} refused ({type(error).__name__}): {text}")


def is_gone(settings: MilvusSettings) -> bool:
    """Whether the file of an embedded database is missing."""
    return settings.path is not None and not settings.path.exists()


def gone(settings: MilvusSettings) -> StorageError:
    """The error for a database file that was removed while it was open."""
    return StorageError(
        f"the database {settings.path} (milvus.uri) is gone: something removed it while it was "
        "open; restart, and run 'evidence-lookup ingest PATH --rebuild'"
    )


def is_not_loaded(error: Exception) -> bool:
    """Whether the collection is there, but not in the server's memory."""
    return getattr(error, "code", None) == _NOT_LOADED


def code_of(error: BaseException) -> str:
    """A word for what went wrong, from the driver's numbers and from gRPC's statuses."""
    chain = chain_of(error)
    statuses = [_status(one) for one in chain]
    names = [str(getattr(status, "name", "")) for status in statuses]
    text = text_of(error)
    if _COLLECTION_MISSING in statuses:
        return "COLLECTION_MISSING"
    if _DATABASE_MISSING in statuses or "database not found" in text:
        return "DATABASE_MISSING"
    if "UNAUTHENTICATED" in names or set(_AUTHENTICATION) & {*statuses}:
        return "UNAUTHENTICATED"
    for name in ("PERMISSION_DENIED", "UNAVAILABLE", "DEADLINE_EXCEEDED"):
        if name in names:
            return name
    if any(isinstance(one, TimeoutError) for one in chain) or "Retry timeout" in text:
        return "DEADLINE_EXCEEDED"
    return "UNAVAILABLE" if _UNAVAILABLE in statuses else ""


def chain_of(error: BaseException) -> list[BaseException]:
    """*error* and what led to it in the driver, which makes errors their own cause."""
    chain: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in chain and not isinstance(one, EvidenceLookupError):
        chain.append(one)
        one = one.__cause__ if one.__cause__ not in (None, one) else one.__context__
    return chain


def _status(error: BaseException) -> Any:
    code = getattr(error, "code", None)
    return code() if callable(code) else code


def text_of(error: BaseException) -> str:
    message = getattr(error, "message", None) or str(error) or type(error).__name__
    line = " ".join(str(message).split())
    return line if len(line) <= 300 else f"{line[:300]}…"
