"""One batch to the trace store, and what becomes of the records that it refuses."""

import logging
from collections.abc import Sequence

import anyio
import anyio.to_thread

from evidence_lookup.adapters.json_values import dumps
from evidence_lookup.adapters.spool.frames import framed
from evidence_lookup.adapters.spool.journal import Batch, Journal
from evidence_lookup.adapters.spool.refused import put_aside
from evidence_lookup.domain.errors import (
    BackendTimeoutError,
    CallerError,
    CollectionMissingError,
    EvidenceLookupError,
    StorageError,
)
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.ports.trace import TraceRecorder

_log = logging.getLogger(__name__)
_SHARE_OF_REFUSED = 4


class Delivery:
    """Hands batches over, and puts aside single records that the store refuses."""

    def __init__(
        self, recorder: TraceRecorder, journal: Journal, *, timeout_seconds: float
    ) -> None:
        """Each attempt ends after *timeout_seconds*."""
        self._recorder = recorder
        self._journal = journal
        self._timeout_seconds = timeout_seconds
        self.delivered = 0
        """Records that the store has taken."""
        self.damaged = 0
        """Frames that could not be read and are gone."""
        self.refused = 0
        """Records that were put aside."""
        self.lost = 0
        """Records that were refused and could not be put aside either."""

    async def hand_over(
        self, records: Sequence[ToolInvocation], *, takes_others: bool = False
    ) -> int:
        """Have *records* stored; how many of them were refused, while others were not.

        These are put aside.

        *takes_others* says that the store has just taken others.

        Raises:
            Exception: the store does not take records now, or takes none of these.
        """
        if not records:
            return 0
        refused: list[ToolInvocation] = []
        try:
            await self._attempt(records)
        except Exception as error:
            if is_the_stores(error) or (len(records) == 1 and not takes_others):
                raise
            refused = await self._singly(records, error, takes_others=takes_others)
            # Once more: what was refused while others were written may have met them by chance.
            refused = await self._singly(refused, error, takes_others=True)
            await self.put_aside(
                [framed(dumps(one).encode()) for one in refused],
                f"the trace store refuses {', '.join(one.id for one in refused[:3])}: {error}",
            )
        return len(refused)

    def count(self, batch: Batch, *, delivered: int) -> None:
        """Count *batch* as done, of which the store took *delivered* records."""
        self.delivered += delivered
        self.damaged += batch.damaged
        if batch.damaged:
            _log.error("%s is damaged in %d places", batch.segment.path, batch.damaged)

    async def put_aside(self, frames: Sequence[bytes], why: str) -> None:
        """Keep *frames*, which cannot be delivered, beside the spool.

        Raises:
            StorageError: they cannot be written.
        """
        if not frames:
            return
        kept = await anyio.to_thread.run_sync(
            lambda: put_aside(
                self._journal.folder,
                frames,
                max_bytes=self._journal.max_bytes // _SHARE_OF_REFUSED,
            )
        )
        self.refused += kept
        _log.error("%d records are put aside in %s: %s", kept, self._journal.folder, why)
        if lost := len(frames) - kept:
            self.lost += lost
            _log.error("%d refused records are lost: there is no room for more", lost)

    async def _singly(
        self, records: Sequence[ToolInvocation], error: Exception, *, takes_others: bool
    ) -> list[ToolInvocation]:
        refused: list[ToolInvocation] = []
        for one in records:
            try:
                await self._attempt([one])
            except Exception as error_of_one:
                if is_the_stores(error_of_one):
                    raise
                refused.append(one)
        if len(refused) == len(records) and not takes_others:
            raise error
        return refused

    async def _attempt(self, records: Sequence[ToolInvocation]) -> None:
        try:
            with anyio.fail_after(self._timeout_seconds):
                await self._recorder.record(records)
        except TimeoutError as error:
            raise BackendTimeoutError(
                f"the trace store did not take {len(records)} records "
                f"in {self._timeout_seconds:g} s"
            ) from error


def is_the_stores(error: Exception) -> bool:
    """Whether *error* would meet any record."""
    if isinstance(error, EvidenceLookupError):
        return error.retryable or isinstance(
            error, (CallerError, CollectionMissingError, StorageError)
        )
    return isinstance(error, OSError)
