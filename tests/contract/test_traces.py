"""Every adapter of the ports `TraceRecorder` and `TraceReader` against their contract."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from evidence_lookup.adapters.memory.traces import MemoryTraces
from evidence_lookup.adapters.sqlite import SqliteTraces
from evidence_lookup.testing.trace_contract import TraceContract, Traces


class TestMemoryTraces(TraceContract):
    """Records in a dict."""

    @pytest.fixture
    async def traces(self) -> AsyncIterator[Traces]:
        """They have no settings."""
        traces = MemoryTraces()
        yield traces
        await traces.aclose()

    async def release(self, traces: Traces) -> None:
        """Closing them keeps the records."""
        await cast("MemoryTraces", traces).aclose()


class TestSqliteTraces(TraceContract):
    """Records in a file."""

    @pytest.fixture
    async def traces(self, tmp_path: Path) -> AsyncIterator[Traces]:
        """In a folder that is not there yet."""
        traces = SqliteTraces(tmp_path / "data" / "knowledge.sqlite")
        yield traces
        await traces.aclose()

    async def release(self, traces: Traces) -> None:
        """Closing them keeps the file."""
        await cast("SqliteTraces", traces).aclose()
