"""The machine's clock."""

import time
from datetime import UTC, datetime


class SystemClock:
    """The time of day in UTC, and a counter of seconds that never goes back."""

    def now(self) -> datetime:
        """The time of day in UTC, aware."""
        return datetime.now(UTC)

    def elapsed(self) -> float:
        """Seconds since some moment before this process's first call."""
        return time.perf_counter()
