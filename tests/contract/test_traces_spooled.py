"""The spool in front of trace stores against the contract of these (R49)."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import cast

import pytest

from evidence_lookup.adapters.memory.traces import MemoryTraces
from evidence_lookup.adapters.spool import SpooledTraces
from evidence_lookup.adapters.sqlite import SqliteTraces
from evidence_lookup.domain.invocation_summary import InvocationSummary
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.trace_filter import EVERY_TRACE, TraceFilter
from evidence_lookup.testing.trace_contract import TraceContract, Traces


class Settled:
    """Records through a spool, and reads when that has delivered."""

    def __init__(self, spool: SpooledTraces, traces: Traces) -> None:
        self.spool = spool
        self._traces = traces

    async def record(self, invocations: Sequence[ToolInvocation]) -> None:
        """Write them down."""
        await self.spool.record(invocations)

    async def get(self, invocation_id: str) -> ToolInvocation | None:
        """The record of that id."""
        return await (await self._settled()).get(invocation_id)

    async def recent(
        self, *, limit: int, where: TraceFilter = EVERY_TRACE
    ) -> tuple[ToolInvocation, ...]:
        """The newest records."""
        return await (await self._settled()).recent(limit=limit, where=where)

    async def summaries(
        self, *, limit: int, where: TraceFilter = EVERY_TRACE
    ) -> tuple[InvocationSummary, ...]:
        """Their summaries."""
        return await (await self._settled()).summaries(limit=limit, where=where)

    async def prune(
        self, *, before: datetime | None = None, keep: int | None = None, dry_run: bool = False
    ) -> int:
        """Thin them out."""
        traces = await self._settled()
        return await traces.prune(before=before, keep=keep, dry_run=dry_run)

    async def _settled(self) -> Traces:
        assert await self.spool.settled(timeout_seconds=60)
        return self._traces


async def spooled(traces: Traces, folder: Path) -> AsyncIterator[Traces]:
    """*traces* behind a spool in *folder*, which is empty in the end."""
    spool = SpooledTraces(traces, folder, max_bytes=2**26)
    yield Settled(spool, traces)
    await spool.aclose()
    assert list(folder.glob("*")) == []  # noqa: ASYNC240 - nothing else runs


class SpooledContract(TraceContract):
    """The same promises as without a spool."""

    async def release(self, traces: Traces) -> None:
        """Closing the spool delivers what waits."""
        await cast("Settled", traces).spool.aclose()


class TestSpooledMemoryTraces(SpooledContract):
    """A spool in front of a dict."""

    @pytest.fixture
    async def traces(self, tmp_path: Path) -> AsyncIterator[Traces]:
        """In a folder that is not there yet."""
        async for traces in spooled(MemoryTraces(), tmp_path / "data" / "spool"):
            yield traces


class TestSpooledSqliteTraces(SpooledContract):
    """A spool beside the file that it delivers to."""

    @pytest.fixture
    async def traces(self, tmp_path: Path) -> AsyncIterator[Traces]:
        """In one folder, as by default."""
        behind = SqliteTraces(tmp_path / "data" / "knowledge.sqlite")
        async for traces in spooled(behind, tmp_path / "data" / "spool"):
            yield traces
        await behind.aclose()
