"""The last step: a record that never harms the answer (R49)."""

import asyncio
import logging

from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.ports.trace import TraceRecorder

_log = logging.getLogger(__name__)

_GRACE_SECONDS = 1.0
_LOGGED_SINGLY, _LOGGED_EACH = 10, 100


class Recording:
    """Hands records to the recorder; what cannot be kept is counted and logged.

    Used in one event loop.
    """

    def __init__(self, recorder: TraceRecorder) -> None:
        self._recorder = recorder
        self._under_way: set[asyncio.Task[None]] = set()
        self.lost = 0
        """Records that could not be kept since this object was made."""

    async def record(self, invocation: ToolInvocation, *, timeout_seconds: float) -> None:
        """Record *invocation*, waiting at most *timeout_seconds*; never raises.

        What takes longer goes on in the background, also where the caller is cancelled.
        """
        task = asyncio.create_task(self._record(invocation))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        await asyncio.wait([task], timeout=timeout_seconds)

    def lose(self, invocation: ToolInvocation, why: object) -> None:
        """Count that *invocation* cannot be kept, and log it: each of some, then now and then."""
        self.lost += 1
        if self.lost <= _LOGGED_SINGLY or self.lost % _LOGGED_EACH == 0:
            _log.warning(
                "the record of lookup %s is lost (%d so far): %s", invocation.id, self.lost, why
            )

    async def aclose(self, *, timeout_seconds: float) -> None:
        """Wait for what is under way, at most that long, and give up what is left."""
        if self._under_way:
            _, left = await asyncio.wait([*self._under_way], timeout=timeout_seconds)
            for task in left:
                task.cancel()
            if left:
                await asyncio.wait(left, timeout=_GRACE_SECONDS)

    async def _record(self, invocation: ToolInvocation) -> None:
        try:
            await self._recorder.record((invocation,))
        except asyncio.CancelledError:
            self.lose(invocation, "given up at the end")
            raise
        except Exception as error:
            self.lose(invocation, error)
