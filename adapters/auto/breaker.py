"""Keeps a path that failed out of the way until it has proved itself again."""

import time
from contextlib import suppress
from enum import StrEnum
from typing import Protocol, cast

from evidence_lookup.domain.path_try import TraceError


class BreakerState(StrEnum):
    """Whether the path is used."""

    CLOSED = "closed"
    """It is."""
    OPEN = "open"
    """It is not, since it failed a short time ago."""
    HALF_OPEN = "half_open"
    """It is not, but a trial is due or runs."""


class _Failure(Exception):
    """What the breaker keeps of an error: no frames, and so no requests."""

    def __init__(self, told: TraceError) -> None:
        super().__init__(told)
        self.told = told


class _CircuitBreaker(Protocol):
    """The part of `circuitbreaker.CircuitBreaker`, which has no types, that is used."""

    @property
    def state(self) -> str: ...
    @property
    def last_failure(self) -> _Failure | None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, kind: object, error: object, traceback: object) -> bool: ...


class Breaker:
    """Opens at the first failure; *seconds* later one trial at a time may close it.

    A path that is only doubted, since somebody gave it too little time, is left alone for as long
    as the trial runs. A trial ends with `succeeded`, `failed` or `end_trial`; it counts as running
    for *trial_seconds* at most, since the event loop that it runs in may end.
    """

    def __init__(self, *, seconds: float, trial_seconds: float) -> None:
        from circuitbreaker import CircuitBreaker  # type: ignore[import-untyped]

        made = CircuitBreaker(failure_threshold=1, recovery_timeout=seconds)
        self._breaker = cast("_CircuitBreaker", made)
        self._trial_seconds = trial_seconds
        self._trial_ends = 0.0
        self._doubt: TraceError | None = None

    @property
    def state(self) -> BreakerState:
        """The state at this moment."""
        if self._breaker.last_failure is None and self._is_on_trial:
            return BreakerState.HALF_OPEN
        return BreakerState(self._breaker.state)

    @property
    def failure(self) -> TraceError | None:
        """Why the path is left alone; None while it is used."""
        if failure := self._breaker.last_failure:
            return failure.told
        return self._doubt if self._is_on_trial else None

    def begin_trial(self) -> bool:
        """Whether the caller shall try the path: the breaker is half-open, and no trial runs."""
        due = self.state is BreakerState.HALF_OPEN and not self._is_on_trial
        if due:
            self._trial_ends = time.monotonic() + self._trial_seconds
        return due

    def doubt(self, told: TraceError) -> bool:
        """Whether the caller shall try the path, which did not answer in less than its own time."""
        due = self._breaker.last_failure is None and not self._is_on_trial
        if due:
            self._doubt = told
            self._trial_ends = time.monotonic() + self._trial_seconds
        return due

    def end_trial(self) -> None:
        """The trial came to nothing, for instance since it was cancelled."""
        self._trial_ends = 0.0

    def succeeded(self) -> None:
        """The path served: close."""
        self._trial_ends = 0.0
        with self._breaker:
            pass

    def failed(self, told: TraceError) -> None:
        """The path failed: open, also out of a trial."""
        self._trial_ends = 0.0
        with suppress(_Failure), self._breaker:
            raise _Failure(told)

    @property
    def _is_on_trial(self) -> bool:
        return time.monotonic() < self._trial_ends
