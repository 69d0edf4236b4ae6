"""Records of lookups: written by one protocol, read by another."""

from collections.abc import Sequence
from typing import Protocol

from evidence_lookup.domain.record import ToolInvocation


class TraceRecorder(Protocol):
    """Stores `tool_invocation` records. Safe with several processes."""

    async def record(self, invocations: Sequence[ToolInvocation]) -> None:
        """Store *invocations*: all or none. One whose id is stored already is left as it is.

        Raises:
            StorageError: the disk is full, or the file cannot be written.
            BackendError: the store does not answer, or refuses.
        """
        ...


class TraceReader(Protocol):
    """Reads `tool_invocation` records."""

    async def get(self, invocation_id: str) -> ToolInvocation | None:
        """The record of that id, equal to what was recorded, or None.

        Raises:
            BackendError: the store cannot be read.
        """
        ...

    async def recent(
        self, *, limit: int, session_id: str | None = None
    ) -> tuple[ToolInvocation, ...]:
        """At most *limit* records, newest first by `created_at`, then by id.

        With *session_id* only those of that session.

        Raises:
            BackendError: the store cannot be read.
        """
        ...
