"""The spool folder: the files of this process and of others."""

from collections.abc import Iterator
from pathlib import Path

from evidence_lookup.adapters.spool.segment import SUFFIX, Segment, adopt

REFUSED = "refused.frames"
"""The file of the records that the store refused. Renamed to ``*.spool`` it is tried again."""


def spool_files(folder: Path) -> list[Path]:
    """The spool files in *folder*, oldest first; none where there is no folder.

    Raises:
        OSError: the folder cannot be read.
    """
    return sorted(path for path, _ in _sizes(folder) if path.suffix == SUFFIX)


def bytes_in(folder: Path) -> int:
    """What all files in *folder* hold.

    Raises:
        OSError: the folder cannot be read.
    """
    return sum(size for _, size in _sizes(folder))


def left_files(folder: Path) -> Iterator[Segment]:
    """The files of processes that ended, oldest first, each taken as it is asked for.

    Raises:
        OSError: the folder or a file cannot be read.
    """
    for path in spool_files(folder):
        segment = adopt(path)
        if segment is not None:
            yield segment


def has_left_files(folder: Path) -> bool:
    """Whether a process that ended has left records in *folder*.

    Raises:
        OSError: the folder or a file cannot be read.
    """
    for segment in left_files(folder):
        holds_something = segment.end > 0
        segment.close()
        if holds_something:
            return True
    return False


def _sizes(folder: Path) -> Iterator[tuple[Path, int]]:
    try:
        paths = list(folder.iterdir())
    except FileNotFoundError:
        return
    for path in paths:
        try:
            yield path, path.stat().st_size
        except FileNotFoundError:
            continue  # delivered in the meantime
