"""What waits in the folder, for people to see."""

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from evidence_lookup.adapters.spool.faults import mapped
from evidence_lookup.adapters.spool.folder import REFUSED, bytes_in, spool_files
from evidence_lookup.adapters.spool.frames import Frame
from evidence_lookup.adapters.spool.journal import invocation_in
from evidence_lookup.adapters.spool.reading import read_frames
from evidence_lookup.ports.spool import SpoolStatus

_AT_ONCE = 1_000


def reckon(folder: Path, positions: Mapping[str, int], *, limit_bytes: int) -> SpoolStatus:
    """What the files in *folder* hold; those named in *positions* count from that byte on.

    Of another process's file also counts what that process has delivered already, up to 1 MB.

    Raises:
        StorageError: the folder cannot be read.
    """
    with mapped(folder):
        pending = damaged = files = 0
        oldest: list[datetime] = []
        for path in spool_files(folder):
            count, broken, first = _of_file(path, positions.get(path.name, 0))
            pending, damaged, files = pending + count, damaged + broken, files + (count > 0)
            oldest += _moments(first)
        refused, broken, _ = _of_file(folder / REFUSED, 0)
        return SpoolStatus(
            pending=pending,
            files=files,
            size_bytes=bytes_in(folder),
            limit_bytes=limit_bytes,
            oldest=min(oldest, default=None),
            damaged=damaged + broken,
            refused=refused,
        )


def _of_file(path: Path, position: int) -> tuple[int, int, Frame | None]:
    """How many frames it holds, how many damaged ones, and the first."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except (FileNotFoundError, PermissionError):
        return 0, 0, None
    try:
        count = damaged = 0
        first: Frame | None = None
        size = os.fstat(fd).st_size
        while position < size:
            # Its process may be in the middle of an append.
            found = read_frames(fd, position, size, is_all=False, most=_AT_ONCE)
            count, damaged = count + len(found.frames), damaged + found.damaged
            if first is None and found.frames:
                first = found.frames[0]
            if found.end == position:
                break
            position = found.end
        return count, damaged, first
    finally:
        os.close(fd)


def _moments(first: Frame | None) -> list[datetime]:
    try:
        return [] if first is None else [invocation_in(first).created_at]
    except ValueError:
        return []
