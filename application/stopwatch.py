"""Seconds spent in each stage of one run."""

from collections.abc import Generator
from contextlib import contextmanager

from evidence_lookup.ports.clock import Clock


class Stopwatch:
    """Adds up the time of each named stage; a stage entered twice counts both."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._started = clock.elapsed()
        self._seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Count what runs inside to *name*."""
        began = self._clock.elapsed()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + self._clock.elapsed() - began

    def total(self) -> float:
        """Seconds since this stopwatch was made."""
        return self._clock.elapsed() - self._started

    def timings(self) -> dict[str, float]:
        """Seconds by stage in order of first entry, and ``total``."""
        return {**self._seconds, "total": self.total()}
