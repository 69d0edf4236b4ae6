"""What came of the second path that ran beside a lookup (R50 to R52)."""

from enum import StrEnum

from attrs import frozen

from evidence_lookup.domain.comparison import Comparison
from evidence_lookup.domain.path_try import TraceError


class SidecarStatus(StrEnum):
    """How the sidecar of one lookup ended."""

    DISABLED = "disabled"
    """It did not run: it is off, or the main path found out nothing to compare with."""
    OK = "ok"
    """It answered, and the comparison is there."""
    FAILED = "failed"
    """It could not be opened, probed or searched."""
    TIMEOUT = "timeout"
    """It did not answer in its time."""


@frozen
class SidecarReport:
    """The sidecar of one lookup.

    `path` is the configured one, None where the sidecar is off. It stands there with the status
    `disabled` where the lookup gave it nothing to run beside: an empty query, retrieval switched
    off, or a main path that failed itself. `seconds` count from its start to its end.
    """

    status: SidecarStatus = SidecarStatus.DISABLED
    path: str | None = None
    error: TraceError | None = None
    comparison: Comparison | None = None
    seconds: float = 0.0


NO_SIDECAR = SidecarReport()
