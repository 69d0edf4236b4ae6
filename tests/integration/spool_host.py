"""A host for tests: records without end and prints the id of each record that was written down."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from evidence_lookup.adapters.spool import SpooledTraces
from evidence_lookup.adapters.sqlite import SqliteTraces
from evidence_lookup.domain.errors import BackendUnavailableError
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.ports.trace import TraceRecorder
from evidence_lookup.testing.samples import invocation


class Down:
    """A store that nobody answers for."""

    async def record(self, invocations: Sequence[ToolInvocation]) -> None:
        """Refuse."""
        raise BackendUnavailableError("nobody answers")


class LastWords:
    """A store that takes one batch; then its host is gone before it knows."""

    def __init__(self, behind: TraceRecorder) -> None:
        self._behind = behind

    async def record(self, invocations: Sequence[ToolInvocation]) -> None:
        """Store them, and kill this process."""
        await self._behind.record(invocations)
        os.kill(os.getpid(), signal.SIGKILL)


async def main(folder: str, name: str, how: str) -> None:
    """Record *name*-0, *name*-1 and so on, four at a time, in *folder*."""
    sqlite = SqliteTraces(Path(folder, "knowledge.sqlite"))
    stores: dict[str, TraceRecorder] = {
        "up": sqlite,
        "down": Down(),
        "last-words": LastWords(sqlite),
    }
    spool = SpooledTraces(stores[how], Path(folder, "spool"), max_bytes=2**26)

    async def record(first: int) -> None:
        for number in range(first, 2**31, 4):
            await spool.record([invocation(f"{name}-{number}")])
            print(f"{name}-{number}", flush=True)
            await asyncio.sleep(0.001)

    await asyncio.gather(*map(record, range(4)))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
