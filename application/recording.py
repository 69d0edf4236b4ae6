"""The last step: a record that never harms the answer (R49)."""

import logging

import anyio

from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.ports.trace import TraceRecorder

_log = logging.getLogger(__name__)


class Recording:
    """Hands records to the recorder; what cannot be kept is counted and logged."""

    def __init__(self, recorder: TraceRecorder) -> None:
        self._recorder = recorder
        self.lost = 0
        """Records that were not stored since this object was made."""

    async def record(self, invocation: ToolInvocation, *, timeout_seconds: float) -> None:
        """Store *invocation*, waiting at most *timeout_seconds*; never raises."""
        try:
            with anyio.fail_after(timeout_seconds):
                await self._recorder.record((invocation,))
        except Exception as error:
            self.lose(invocation, error)

    def lose(self, invocation: ToolInvocation, why: object) -> None:
        """Count and log that *invocation* cannot be kept."""
        self.lost += 1
        _log.warning(
            "the record of lookup %s is lost (%d so far): %s", invocation.id, self.lost, why
        )
