"""Records of lookups in this process; gone when it ends."""

from collections.abc import Sequence

from evidence_lookup.domain.record import ToolInvocation


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
        self, *, limit: int, session_id: str | None = None
    ) -> tuple[ToolInvocation, ...]:
        """At most *limit* records, newest first by `created_at`, then the later id first.

        With *session_id* only those of that session.
        """
        found = [one for one in self._records.values() if session_id in (None, one.session_id)]
        found.sort(key=lambda one: (one.created_at, one.id), reverse=True)
        return tuple(found[: max(limit, 0)])

    async def aclose(self) -> None:
        """Nothing to close; the records stay."""
