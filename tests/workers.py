"""Which worker runs which tests, where pytest-xdist shares them out.

All tests on one kind of server go to one worker: it is started once, and its faults meet no other
tests. All others go by their files, which keep their fixtures. Those on servers come first, since
they take longest.
"""

from functools import cache
from pathlib import Path

# It ships no types that the checkers take.
from xdist.scheduler import (  # type: ignore[import-untyped] # pyright: ignore[reportMissingTypeStubs]
    LoadFileScheduling,
)

SERVERS = ("milvus", "elasticsearch", "postgres")
_ROOT = Path(__file__).parents[1]


class ByServer(LoadFileScheduling):  # type: ignore[misc]
    """Shares out by server, then by file."""

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)


def group(nodeid: str) -> str:
    """The kind of server that a test asks for, or its file.

    In a file on several servers a test is on the one that its name or parameters name.
    """
    file, _, name = nodeid.partition("::")
    servers = _servers(file)
    return next((one for one in servers if one in name), servers[0]) if servers else file


def place(nodeid: str) -> int:
    """Where a test stands among the others: those on servers first."""
    one = group(nodeid)
    return SERVERS.index(one) if one in SERVERS else len(SERVERS)


@cache
def _servers(file: str) -> tuple[str, ...]:
    text = (_ROOT / file).read_text(encoding="utf-8")
    return tuple(one for one in SERVERS if f"{one}_server" in text)
