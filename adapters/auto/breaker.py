"""Keeps a path that failed out of the way until it has proved itself again."""

from contextlib import suppress
from enum import StrEnum
from typing import Protocol, cast

from evidence_lookup.domain.errors import EvidenceLookupError


class BreakerState(StrEnum):
    """Whether the path is used."""

    CLOSED = "closed"
    """It is."""
    OPEN = "open"
    """It is not, since it failed a short time ago."""
    HALF_OPEN = "half_open"
    """It is not, but a trial is due or runs."""


class _CircuitBreaker(Protocol):
    """The part of `circuitbreaker.CircuitBreaker`, which has no types, that is used."""

    @property
    def state(self) -> str: ...
    @property
    def last_failure(self) -> BaseException | None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, kind: object, error: object, traceback: object) -> bool: ...


class Breaker:
    """Opens at the first failure; *seconds* later one trial at a time may close it."""

    def __init__(self, *, seconds: float) -> None:
        from circuitbreaker import CircuitBreaker  # type: ignore[import-untyped]

        made = CircuitBreaker(failure_threshold=1, recovery_timeout=seconds)
        self._breaker = cast("_CircuitBreaker", made)
        self._is_on_trial = False

    @property
    def state(self) -> BreakerState:
        """The state at this moment."""
        return BreakerState(self._breaker.state)

    @property
    def last_failure(self) -> EvidenceLookupError | None:
        """What opened it; None while it is closed."""
        return cast("EvidenceLookupError | None", self._breaker.last_failure)

    def begin_trial(self) -> bool:
        """Whether the caller shall try the path: it is half-open and nobody else does.

        Ended by `succeeded`, `failed` or `end_trial`.
        """
        due = self.state is BreakerState.HALF_OPEN and not self._is_on_trial
        self._is_on_trial = self._is_on_trial or due
        return due

    def end_trial(self) -> None:
        """The trial came to nothing, for instance since it was cancelled."""
        self._is_on_trial = False

    def succeeded(self) -> None:
        """The path served: close."""
        self._is_on_trial = False
        with self._breaker:
            pass

    def failed(self, error: EvidenceLookupError) -> None:
        """The path failed: open, also out of a trial."""
        self._is_on_trial = False
        with suppress(EvidenceLookupError), self._breaker:
            raise error
