"""Whether the trace store takes records, and when it is tried again."""

import logging
import random
import time
from pathlib import Path

from evidence_lookup.domain.errors import EvidenceLookupError, message_of

_log = logging.getLogger(__name__)
_FIRST_SECONDS = 0.1
_LONGEST_SECONDS = 10.0
_DOUBLINGS = 10


class Outage:
    """Says once that deliveries fail and once that they work again; waits longer each time."""

    def __init__(self, folder: Path) -> None:
        """The store is taken to work."""
        self._folder = folder
        self._began: float | None = None
        self._failures = 0
        self._delivered = 0
        self.error: str | None = None
        """Kind and message of the last delivery if it failed."""

    @property
    def is_on(self) -> bool:
        """Whether the last delivery failed."""
        return self._began is not None

    def failed(self, error: Exception, *, delivered: int) -> float:
        """A delivery failed: after how many seconds to try again.

        Of this object's records *delivered* are delivered by now.
        """
        kind = error.kind if isinstance(error, EvidenceLookupError) else type(error).__name__
        self.error = f"{kind}: {message_of(error)}"
        self._failures += 1
        if self._began is None:
            self._began, self._delivered = time.monotonic(), delivered
            _log.warning(
                "the trace store takes no records; they wait in %s until it does: %s",
                self._folder,
                self.error,
            )
        seconds = _FIRST_SECONDS * 2.0 ** min(self._failures - 1, _DOUBLINGS)
        # Hosts that lost the store together need not come back to it together.
        return min(seconds, _LONGEST_SECONDS) * random.uniform(0.5, 1.0)

    def over(self, *, delivered: int) -> None:
        """Deliveries work; *delivered* are delivered by now."""
        if self._began is not None:
            seconds = time.monotonic() - self._began
            _log.warning(
                "the trace store takes records again after %.1f s: %d delivered",
                seconds,
                delivered - self._delivered,
            )
        self._began, self._failures, self.error = None, 0, None

    def hurry(self) -> None:
        """Begin again with short waits."""
        self._failures = 0
