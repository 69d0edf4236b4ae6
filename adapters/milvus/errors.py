"""The one place where the driver's errors become this library's."""

import asyncio
import contextvars
import logging
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

from evidence_lookup.adapters.milvus.settings import MilvusSettings
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
NOT_LOADED = 101
_translating: contextvars.ContextVar[bool] = contextvars.ContextVar("translating", default=False)


@contextmanager
def translated(settings: MilvusSettings) -> Generator[None, None, None]:
    """Raise what the driver raises inside as an error of this library.

    The driver logs each error with its traceback before it raises it; inside, that is left out,
    since the error arrives here.
    """
    _quieten()
    token = _translating.set(True)
    try:
        yield
    except (EvidenceLookupError, asyncio.CancelledError):
        raise
    except Exception as error:
        raise translate(error, settings) from error
    finally:
        _translating.reset(token)


def translate(error: Exception, settings: MilvusSettings) -> BackendError:
    """The error of this library that says what *error* means."""
    code, text = _code(error), _text(error)
    where = f"Milvus at {settings.uri} (milvus.uri)"
    match code:
        case "COLLECTION_MISSING":
            return CollectionMissingError(
                f"{where} has no collection {settings.collection!r} (milvus.collection); "
                "'evidence-lookup ingest' makes it"
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
                f"(milvus.timeout_seconds): {text}"
            )
        case _:
            if settings.path is not None and not settings.path.exists():
                return StorageError(
                    f"the database {settings.path} (milvus.uri) is gone: something removed it "
                    "while it was open; open it anew and run 'evidence-lookup ingest --rebuild'"
                )
            if "disk" in text.lower() and "full" in text.lower():
                return StorageError(f"the disk of {settings.uri} (milvus.uri) is full: {text}")
            return BackendFailedError(f"{where} refused ({type(error).__name__}): {text}")


def is_not_loaded(error: Exception) -> bool:
    """Whether the collection is there, but not in the server's memory."""
    return getattr(error, "code", None) == NOT_LOADED


def _code(error: BaseException) -> str:
    """A word for what went wrong, from the driver's number or from gRPC's status."""
    code = getattr(error, "code", None)
    status: Any = code() if callable(code) else code
    name = getattr(status, "name", None)
    if name in ("UNAVAILABLE", "DEADLINE_EXCEEDED", "UNAUTHENTICATED", "PERMISSION_DENIED"):
        return str(name)
    if status == _COLLECTION_MISSING:
        return "COLLECTION_MISSING"
    if status == _DATABASE_MISSING or "database not found" in _text(error):
        return "DATABASE_MISSING"
    if status in _AUTHENTICATION:
        return "UNAUTHENTICATED"
    if isinstance(error, TimeoutError) or isinstance(error.__cause__, TimeoutError):
        return "DEADLINE_EXCEEDED"
    cause = error.__cause__
    if status == _UNAVAILABLE:
        # A wrong token shows only in the cause of "cannot connect".
        known = _code(cause) if cause is not None else ""
        return known if known in ("UNAUTHENTICATED", "PERMISSION_DENIED") else "UNAVAILABLE"
    if cause is not None and cause is not error:
        return _code(cause)
    return "DEADLINE_EXCEEDED" if "Retry timeout" in _text(error) else ""


def _text(error: BaseException) -> str:
    message = getattr(error, "message", None) or str(error) or type(error).__name__
    line = " ".join(str(message).split())
    return line if len(line) <= 300 else f"{line[:300]}…"


class _WhileTranslating(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return not _translating.get()


@cache
def _quieten() -> None:
    for name in (
        "pymilvus.decorators",
        "pymilvus.client.connection_manager",
        "pymilvus.client.async_grpc_handler",
    ):
        logging.getLogger(name).addFilter(_WhileTranslating())
