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

    Whatever led to it counts too: clients wrap what the network said.
    """
    chain, code = chain_of(error), code_of(error)
    kind, said = type(error).__name__, text_of(error)
    text = kind if said == kind else f"{kind}: {said}"
    if code == "COLLECTION_MISSING":
        return CollectionMissingError(f"the VectorStore {name} has no such collection: {text}")
    if code == "DEADLINE_EXCEEDED":  # a TimeoutError too, which is an OSError besides
        return BackendTimeoutError(
            f"the VectorStore {name} gave no answer within {seconds:g} s "
            f"(vector-store.timeout-seconds): {text}"
        )
    if code == "UNAVAILABLE" or any(isinstance(one, OSError) for one in chain):
        return BackendUnavailableError(
            f"the VectorStore {name} (vector-store.factory) does not answer: {text}"
        )
    return BackendFailedError(f"the VectorStore {name} (vector-store.factory) failed: {text}")
