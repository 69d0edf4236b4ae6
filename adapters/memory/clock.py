"""A clock that stands still until it is moved, for tests."""

from datetime import UTC, datetime, timedelta


class ManualClock:
    """Tells the time that it was set to."""

    def __init__(self, now: datetime = datetime(2025, 1, 1, tzinfo=UTC)) -> None:
        """The clock stands at *now*, with no time elapsed."""
        self._now = now
        self._elapsed = 0.0

    def now(self) -> datetime:
        """The time of day that the clock stands at."""
        return self._now

    def elapsed(self) -> float:
        """The seconds by which the clock was advanced."""
        return self._elapsed

    def set(self, now: datetime) -> None:
        """Put the time of day to *now*, which may be earlier; no time elapses."""
        self._now = now

    def advance(self, seconds: float) -> None:
        """Let *seconds*, 0 or more, go by.

        Raises:
            ValueError: *seconds* is negative.
        """
        if seconds < 0:
            raise ValueError(f"time does not go back: {seconds} s")
        self._elapsed += seconds
        self._now += timedelta(seconds=seconds)
