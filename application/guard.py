"""Foreign code runs under a deadline, and only this library's errors come out."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio

from evidence_lookup.domain.errors import (
    BackendFailedError,
    BackendTimeoutError,
    BackendUnavailableError,
    EvidenceLookupError,
)


@contextmanager
def guarded(*, deadline: float) -> Generator[None]:
    """Run a port's call until *deadline*, a moment of `anyio.current_time`.

    Raises:
        BackendTimeoutError: the deadline passed.
        EvidenceLookupError: the call's own; any other exception is turned into one, so that a
            host's adapter that raises what it likes still reads as unavailable.
    """
    with anyio.CancelScope(deadline=deadline) as scope:
        try:
            yield
        except EvidenceLookupError:
            raise
        except TimeoutError as error:
            raise BackendTimeoutError(f"the backend did not answer in time: {error}") from error
        except OSError as error:
            raise BackendUnavailableError(f"the backend cannot be reached: {error}") from error
        except Exception as error:
            raise BackendFailedError(f"{type(error).__name__}: {error}") from error
    if scope.cancelled_caught:
        raise BackendTimeoutError(
            "no answer within the time allowed (for a lookup that is rag.deadline-seconds)"
        )
