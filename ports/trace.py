"""Records of lookups: written by one protocol, read by another, thinned out by a third."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from evidence_lookup.domain.invocation_summary import InvocationSummary
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.trace_filter import EVERY_TRACE, TraceFilter


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
        self, *, limit: int, where: TraceFilter = EVERY_TRACE
    ) -> tuple[ToolInvocation, ...]:
        """At most *limit* records that pass *where*, newest first by `created_at`, then by id.

        Raises:
            BackendError: the store cannot be read.
        """
        ...

    async def summaries(
        self, *, limit: int, where: TraceFilter = EVERY_TRACE
    ) -> tuple[InvocationSummary, ...]:
        """As `recent`, without the details of each record, which are not read.

        Raises:
            BackendError: the store cannot be read.
        """
        ...


class TraceRetention(Protocol):
    """Thins out `tool_invocation` records."""

    async def prune(
        self, *, before: datetime | None = None, keep: int | None = None, dry_run: bool = False
    ) -> int:
        """Remove what was made before *before*, and all but the newest *keep*; how many went.

        Of both conditions either is enough; without any nothing goes. *before* is an aware time,
        *keep* at least 0. With *dry_run* nothing is removed, and counted all the same.

        Raises:
            StorageError: the file cannot be written.
            BackendError: the store does not answer, or refuses.
        """
        ...
