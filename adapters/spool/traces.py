"""Records on their way to a trace store that may be slow or down."""

import os
import weakref
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.to_thread
from attrs import evolve

from evidence_lookup.adapters.json_values import dumps_utf8
from evidence_lookup.adapters.per_loop import PerLoop
from evidence_lookup.adapters.spool.appender import Appender
from evidence_lookup.adapters.spool.courier import Courier
from evidence_lookup.adapters.spool.delivery import Delivery
from evidence_lookup.adapters.spool.faults import mapped
from evidence_lookup.adapters.spool.folder import has_left_files
from evidence_lookup.adapters.spool.frames import framed
from evidence_lookup.adapters.spool.journal import Entry, Journal
from evidence_lookup.adapters.spool.outage import Outage
from evidence_lookup.adapters.spool.reckoning import reckon
from evidence_lookup.domain.errors import StorageError
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.record_limits import within_limit
from evidence_lookup.ports.spool import SpoolStatus
from evidence_lookup.ports.trace import TraceRecorder

_PAUSE_SECONDS = 0.02
_LAST_TRY_SECONDS = 0.25
_GRACE_SECONDS = 1.0
_TRIES = 3


class SpooledTraces:
    """Writes records into *folder*, and delivers them to a recorder behind it, each once.

    A record that `record` has returned for survives the end of the process, also by ``kill -9``;
    while the store is known to be down it is on the disk itself a tenth of a second later, and then
    survives a power cut too. It is delivered within a moment, or when the store is there again, by
    this process or, after its end, by the next one that uses the folder. The store may be given a
    record again whose id it has, which it leaves as it is.

    Safe with several tasks, event loops, threads, processes and forks. The folder must be on a
    local file system of a POSIX system; Windows is not supported.
    """

    def __init__(
        self,
        recorder: TraceRecorder,
        folder: Path,
        *,
        max_bytes: int,
        max_record_bytes: int | None = None,
        delivery_timeout_seconds: float = 10.0,
        close_timeout_seconds: float = 2.0,
        linger_seconds: float = 0.25,
        rescan_seconds: float = 60.0,
    ) -> None:
        """Nothing is opened yet; the folder is made at first use.

        A record longer than *max_record_bytes* of JSON is shortened as `within_limit` says.
        *max_bytes* bounds what the folder holds, of all processes together; a quarter of it may be
        records that the store refuses. Each attempt to deliver, of at most 100 records, ends after
        *delivery_timeout_seconds*, `aclose` after *close_timeout_seconds* and 2 more. Records
        gather for *linger_seconds*, so that few deliveries run beside lookups. What ended processes
        have left is looked for each *rescan_seconds*.
        """
        self._folder = folder.absolute()
        self._max_record_bytes = max_record_bytes
        self._close_timeout_seconds = close_timeout_seconds
        self._journal = Journal(self._folder, max_bytes=max_bytes)
        self._outage = Outage(self._folder)
        self._delivery = Delivery(recorder, self._journal, timeout_seconds=delivery_timeout_seconds)
        self._courier = PerLoop(
            lambda: Courier(
                self._journal,
                self._delivery,
                self._outage,
                linger_seconds=linger_seconds,
                rescan_seconds=rescan_seconds,
            )
        )
        self._appender = PerLoop(lambda: Appender(self._journal, self._courier().wake))
        _journals.add(self._journal)

    @property
    def delivered(self) -> int:
        """Records that the store has taken from this object."""
        return self._delivery.delivered

    @property
    def refused(self) -> int:
        """Records that the store refused while it took others; they are kept in the folder."""
        return self._delivery.refused

    @property
    def lost(self) -> int:
        """Records that the store refused and that found no room in the folder."""
        return self._delivery.lost

    async def record(self, invocations: Sequence[ToolInvocation]) -> None:
        """Write *invocations* down: all or none. Where it is cancelled they may still be.

        Raises:
            StorageError: the spool is full, or cannot be written.
            TypeError: one is no record.
        """
        if not invocations:
            return
        records, frames = zip(*map(self._framed, invocations), strict=True)
        await self._appender().append(Entry(records, frames))

    async def settled(self, *, timeout_seconds: float) -> bool:
        """Try to deliver what waits, for at most that long; whether nothing waits any more.

        What waits in the files of processes that still run is theirs to deliver. Never raises for
        want of the store.
        """
        courier, appender = self._courier(), self._appender()
        try:
            with anyio.move_on_after(timeout_seconds):
                await appender.flushed()
                if not await self._waits(courier):
                    return True
                courier.hurry()
                while True:
                    await courier.round_over()
                    if not await self._waits(courier):
                        return True
                    await anyio.sleep(_PAUSE_SECONDS)
        except StorageError:
            return False  # it cannot be known
        return False

    async def status(self) -> SpoolStatus:
        """What waits now; reads the folder.

        Raises:
            StorageError: the folder cannot be read.
        """
        status = await anyio.to_thread.run_sync(self._reckon, abandon_on_cancel=True)
        return evolve(
            status, damaged=status.damaged + self._delivery.damaged, error=self._outage.error
        )

    async def aclose(self) -> None:
        """Deliver what can be delivered soon, and let the files go; may be repeated.

        For a store that is down it waits no more than 250 ms. What is left is delivered by the
        next process, or by this object if it is used again.
        """
        with anyio.CancelScope(shield=True):
            most = self._close_timeout_seconds
            if self._outage.is_on:
                most = min(most, _LAST_TRY_SECONDS)
            await self.settled(timeout_seconds=most)
            courier, appender = self._courier.take(), self._appender.take()
            if courier is not None:
                await courier.aclose()
            if appender is not None:
                appender.close()
            with anyio.move_on_after(_GRACE_SECONDS):
                await anyio.to_thread.run_sync(self._journal.close, abandon_on_cancel=True)

    def _framed(self, invocation: ToolInvocation) -> tuple[ToolInvocation, bytes]:
        payload = _json(invocation)
        limit = self._max_record_bytes
        if limit is not None and len(payload) > limit:
            invocation = within_limit(invocation, limit, lambda one: len(_json(one)))
            payload = _json(invocation)
        return invocation, framed(payload)

    def _reckon(self) -> SpoolStatus:
        journal, tries = self._journal, 0
        while True:
            tries, clearings, positions = tries + 1, journal.clearings, journal.positions()
            status = reckon(self._folder, positions, limit_bytes=journal.max_bytes)
            # Where a file was emptied meanwhile its position says nothing.
            if clearings == journal.clearings or tries == _TRIES:
                return status

    async def _waits(self, courier: Courier) -> bool:
        if courier.is_busy or self._journal.undelivered() is not None:
            return True
        with mapped(self._folder):
            return await anyio.to_thread.run_sync(
                has_left_files, self._folder, abandon_on_cancel=True
            )


def _json(invocation: ToolInvocation) -> bytes:
    if not isinstance(invocation, ToolInvocation):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{invocation!r} is no record of a lookup")
    return dumps_utf8(invocation)


_journals: "weakref.WeakSet[Journal]" = weakref.WeakSet()


def _forget_in_child() -> None:
    for journal in [*_journals]:
        journal.forget()


os.register_at_fork(after_in_child=_forget_in_child)
