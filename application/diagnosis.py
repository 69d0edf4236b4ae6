"""Whether a set-up works: each part is asked, none is assumed."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import anyio
from attrs import frozen

from evidence_lookup.application.guard import guarded
from evidence_lookup.application.readiness import Readiness
from evidence_lookup.application.sidecar import Sidecar
from evidence_lookup.domain.errors import BackendFailedError, EvidenceLookupError, message_of
from evidence_lookup.domain.path_try import PathTry
from evidence_lookup.ports.catalogue import Catalogue
from evidence_lookup.ports.clock import Clock
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.ports.knowledge_search import SearchCapabilities
from evidence_lookup.ports.spool import Spool, SpoolStatus
from evidence_lookup.ports.trace import TraceReader

Ask: TypeAlias = Callable[[], Awaitable[str]]

_PATIENCE_SECONDS = 60.0
_DELIVERY_SECONDS = 5.0
_STALE_SECONDS = 60.0


@frozen
class Check:
    """One part of the set-up: whether it works, and what it says of itself or what to do."""

    name: str
    ok: bool
    detail: str


@frozen
class Diagnosis:
    """Asks embedder, knowledge, catalogue, traces, spool and sidecar in turn, where there are."""

    embedder: Embedder
    readiness: Readiness
    catalogue: Catalogue
    traces: TraceReader
    sidecar: Sidecar | None = None
    spool: Spool | None = None
    clock: Clock | None = None

    async def run(self) -> tuple[Check, ...]:
        """One check for each part; a part that fails does not stop the others."""
        return (
            await _check("embedder", self._embedder),
            *await self._knowledge_and_paths(),
            await _check("catalogue", self._catalogue),
            await _check("traces", self._traces),
            *([await _check("spool", self._spool)] if self.spool else []),
            *([await _check("sidecar", self._sidecar)] if self.sidecar else []),
        )

    async def _embedder(self) -> str:
        vector = await self.embedder.embed_query("ready?")
        return f"{self.embedder.model}, {len(vector)} dimensions"

    async def _knowledge_and_paths(self) -> tuple[Check, ...]:
        tries: tuple[PathTry, ...] = ()

        async def ask() -> str:
            nonlocal tries
            try:
                told = await self._knowledge()
            except EvidenceLookupError as error:
                tries = error.tries
                raise
            tries = (await self.readiness.capabilities()).tries
            return told

        knowledge = await _check("knowledge", ask)
        return (knowledge, *map(_path_check, tries))

    async def _knowledge(self) -> str:
        self.readiness.forget()
        return _abilities(await self.readiness.capabilities())

    async def _sidecar(self) -> str:
        assert self.sidecar is not None
        return _abilities(await self.sidecar.probe())

    async def _catalogue(self) -> str:
        entries = await self.catalogue.entries()
        cut_short = sum(not entry.is_complete for entry in entries)
        chunks = sum(entry.chunk_count for entry in entries)
        text = f"{len(entries)} documents, {chunks} chunks"
        return f"{text}; {cut_short} of an interrupted ingest, run it again" if cut_short else text

    async def _traces(self) -> str:
        newest = await self.traces.recent(limit=1)
        return f"last lookup at {newest[0].created_at:%Y-%m-%d %H:%M:%S} UTC" if newest else "empty"

    async def _spool(self) -> str:
        assert self.spool is not None
        assert self.clock is not None
        await self.spool.settled(timeout_seconds=_DELIVERY_SECONDS)
        status = await self.spool.status()
        age = (self.clock.now() - status.oldest).total_seconds() if status.oldest else 0.0
        told = _depth(status, age)
        # A host that runs holds its newest records for a moment.
        if age > _STALE_SECONDS or status.damaged or status.refused:
            raise BackendFailedError(told)
        return told


def _depth(status: SpoolStatus, age: float) -> str:
    if not status.pending:
        told = "no record waits"
    else:
        records = "1 record waits" if status.pending == 1 else f"{status.pending} records wait"
        files = "1 file" if status.files == 1 else f"{status.files} files"
        told = (
            f"{records} in {files}, the oldest for {age:.0f} s, "
            f"{status.size_bytes:,} of {status.limit_bytes:,} bytes"
        )
    for count, what in (
        (status.damaged, "damaged, which cannot be read"),
        (status.refused, "refused by the store, put aside in the spool's folder"),
    ):
        if count:
            told += f"; {count} {what}"
    return f"{told}; {status.error}" if status.error else told


def _abilities(found: SearchCapabilities) -> str:
    modes = ", ".join(sorted(found.modes))
    return f"{found.path}: {found.dimension} dimensions, {found.semantics}, modes {modes}"


async def _check(name: str, ask: Ask) -> Check:
    try:
        with guarded(deadline=anyio.current_time() + _PATIENCE_SECONDS):
            return Check(name, True, await ask())
    except EvidenceLookupError as error:
        return Check(name, False, f"{error.kind}: {message_of(error)}")


def _path_check(tried: PathTry) -> Check:
    told = f"{tried.error.kind}: {tried.error.message}" if tried.error else "serves"
    if tried.breaker:
        told = f"{told}; breaker {tried.breaker}"
    return Check(f"path {tried.path}", tried.error is None, told)
