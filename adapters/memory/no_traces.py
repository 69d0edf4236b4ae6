"""A recorder for hosts that keep no records."""

from collections.abc import Sequence

from evidence_lookup.domain.record import ToolInvocation


class NoTraces:
    """Accepts every record and keeps none."""

    async def record(self, invocations: Sequence[ToolInvocation]) -> None:
        """As `TraceRecorder.record`, but nothing is stored."""
