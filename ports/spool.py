"""A recorder that keeps what the trace store did not take yet."""

from datetime import datetime
from typing import Protocol

from attrs import frozen

from evidence_lookup.ports.trace import TraceRecorder


@frozen
class SpoolStatus:
    """What waits in the spool folder, of this process and of those that ended.

    `oldest` is the `created_at` of the record that has waited longest, in UTC. `size_bytes` of
    `limit_bytes` are used. `damaged` counts frames that could not be read, `refused` records that
    the store would not take, which are put aside. `error` is the kind and message of the last
    delivery if it failed, in this process; None if it did not, or none was tried.
    """

    pending: int = 0
    files: int = 0
    size_bytes: int = 0
    limit_bytes: int = 0
    oldest: datetime | None = None
    damaged: int = 0
    refused: int = 0
    error: str | None = None


class Spool(TraceRecorder, Protocol):
    """Writes records down at once and delivers them to a trace store later, each once."""

    @property
    def lost(self) -> int:
        """Records of this process that the store refused and that could not be put aside."""
        ...

    async def settled(self, *, timeout_seconds: float) -> bool:
        """Try to deliver what waits, for at most that long; whether nothing waits any more.

        Never raises for want of the store.
        """
        ...

    async def status(self) -> SpoolStatus:
        """What waits now; reads the folder.

        Raises:
            StorageError: the folder cannot be read.
        """
        ...
