"""Reads what this process has written, the records that were under way included."""

from datetime import datetime
from typing import Protocol

from attrs import frozen

from evidence_lookup.domain.invocation_summary import InvocationSummary
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.trace_filter import EVERY_TRACE, TraceFilter
from evidence_lookup.ports.spool import Spool
from evidence_lookup.ports.trace import TraceReader, TraceRetention

_PATIENCE_SECONDS = 1.0


class StoredTraces(TraceReader, TraceRetention, Protocol):
    """A trace store that is read and thinned out."""


@frozen
class SettledTraces:
    """*traces*, each time after what waits in *spool* was delivered, or a second has passed."""

    traces: StoredTraces
    spool: Spool | None = None

    async def get(self, invocation_id: str) -> ToolInvocation | None:
        """As `TraceReader.get`."""
        await self._settle()
        return await self.traces.get(invocation_id)

    async def recent(
        self, *, limit: int, where: TraceFilter = EVERY_TRACE
    ) -> tuple[ToolInvocation, ...]:
        """As `TraceReader.recent`."""
        await self._settle()
        return await self.traces.recent(limit=limit, where=where)

    async def summaries(
        self, *, limit: int, where: TraceFilter = EVERY_TRACE
    ) -> tuple[InvocationSummary, ...]:
        """As `TraceReader.summaries`."""
        await self._settle()
        return await self.traces.summaries(limit=limit, where=where)

    async def prune(
        self, *, before: datetime | None = None, keep: int | None = None, dry_run: bool = False
    ) -> int:
        """As `TraceRetention.prune`."""
        await self._settle()
        return await self.traces.prune(before=before, keep=keep, dry_run=dry_run)

    async def _settle(self) -> None:
        if self.spool is not None:
            await self.spool.settled(timeout_seconds=_PATIENCE_SECONDS)
