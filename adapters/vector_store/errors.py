"""The one place where a store's errors become this library's."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from evidence_lookup.adapters.milvus.errors import chain_of, code_of, text_of
from evidence_lookup.domain.errors import (
    BackendError,
    BackendFailedError,
    BackendTimeoutError,
    BackendUnavailableError,
    CollectionMissingError,
    EvidenceLookupError,
    SettingsError,
)


@contextmanager
def translated(name: str, seconds: float) -> Generator[None, None, None]:
    """Raise what the store *name* raises inside as an error of this library."""
    try:
        yield
    except (EvidenceLookupError, asyncio.CancelledError):
        raise
    except NotImplementedError as error:
        fault = f"vector-store.score: {name} has no search of that kind ({text_of(error)})"
        raise SettingsError([fault]) from error
    except Exception as error:
        raise translate(error, name, seconds) from error


def translate(error: Exception, name: str, seconds: float) -> BackendError:
    """The error of this library that says what *error* of the store *name* means.

    Whatever led to it counts too: clients wrap what the network said. The numbers in an error are
    read as Milvus' own only where its driver raised it: elsewhere they mean other things.
    """
    chain = chain_of(error)
    code = code_of(error) if any(_is_of(one, "pymilvus") for one in chain) else _general(chain)
    kind, said = type(error).__name__, text_of(error)
    text = kind if said == kind else f"{kind}: {said}"
    if code == "COLLECTION_MISSING":
        return CollectionMissingError(f"the VectorStore {name} has no such collection: {text}")
    if code == "DEADLINE_EXCEEDED":
        return BackendTimeoutError(
            f"the VectorStore {name} gave no answer within {seconds:g} s "
            f"(vector-store.timeout-seconds): {text}"
        )
    if code == "UNAVAILABLE" or any(isinstance(one, OSError) for one in chain):
        return BackendUnavailableError(
            f"the VectorStore {name} (vector-store.factory) does not answer: {text}"
        )
    return BackendFailedError(f"the VectorStore {name} (vector-store.factory) failed: {text}")


def _general(chain: list[BaseException]) -> str:
    """What any error may say: a status of gRPC, or that it came too late."""
    statuses = {_grpc_status(one) for one in chain if _is_of(one, "grpc")}
    # It is an OSError besides.
    is_late = any(isinstance(one, TimeoutError) for one in chain)
    if is_late or "DEADLINE_EXCEEDED" in statuses:
        return "DEADLINE_EXCEEDED"
    return "UNAVAILABLE" if "UNAVAILABLE" in statuses else ""


def _grpc_status(error: BaseException) -> str:
    code = getattr(error, "code", None)
    return str(getattr(code() if callable(code) else code, "name", ""))


def _is_of(error: BaseException, package: str) -> bool:
    """Whether the error's class, or one that it is made of, comes from *package*."""
    return any(one.__module__.partition(".")[0] == package for one in type(error).__mro__)
