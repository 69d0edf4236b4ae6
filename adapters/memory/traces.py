"""Records of lookups in this process; gone when it ends."""

from collections.abc import Sequence
from datetime import datetime

from evidence_lookup.domain.invocation_summary import InvocationSummary, summary_of
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.trace_filter import EVERY_TRACE, TraceFilter


class MemoryTraces:
    """Records in a dict, without bound."""

    def __init__(self) -> None:
        """No records."""
        self._records: dict[str, ToolInvocation] = {}

    async def record(self, invocations: Sequence[ToolInvocation]) -> None:
        """Store *invocations*: all or none. One whose id is stored already is left as it is."""
        # Of one id twice in a batch the first counts, as if each came alone.
        new = {one.id: one for one in reversed(invocations)}
        self._records = new | self._records

    async def get(self, invocation_id: str) -> ToolInvocation | None:
        """The record of that id, or None."""
        return self._records.get(invocation_id)

    async def recent(
        self, *, limit: int, where: TraceFilter = EVERY_TRACE
    ) -> tuple[ToolInvocation, ...]:
        """At most *limit* records that pass *where*, newest first by `created_at`, then by id."""
        return self._newest_first(where)[: max(limit, 0)]

    async def summaries(
        self, *, limit: int, where: TraceFilter = EVERY_TRACE
    ) -> tuple[InvocationSummary, ...]:
        """As `recent`, without the details of each record."""
        return tuple(map(summary_of, await self.recent(limit=limit, where=where)))

    async def prune(
        self, *, before: datetime | None = None, keep: int | None = None, dry_run: bool = False
    ) -> int:
        """Remove what was made before *before*, and all but the newest *keep*; how many went."""
        gone = {
            one.id
            for place, one in enumerate(self._newest_first(EVERY_TRACE))
            if (before is not None and one.created_at < before)
            or (keep is not None and place >= keep)
        }
        if not dry_run:
            self._records = {id_: one for id_, one in self._records.items() if id_ not in gone}
        return len(gone)

    async def aclose(self) -> None:
        """Nothing to close; the records stay."""

    def _newest_first(self, where: TraceFilter) -> tuple[ToolInvocation, ...]:
        found = filter(where.passes, self._records.values())
        return tuple(sorted(found, key=lambda one: (one.created_at, one.id), reverse=True))
