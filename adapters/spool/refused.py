"""Records that the store refuses while it takes others: kept beside the spool."""

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

from evidence_lookup.adapters.spool.faults import mapped
from evidence_lookup.adapters.spool.folder import REFUSED


def put_aside(folder: Path, frames: Sequence[bytes], *, max_bytes: int) -> int:
    """Append *frames* to the file `REFUSED` as long as it holds at most *max_bytes*; how many.

    They are on the disk itself after.

    Raises:
        StorageError: the file cannot be written.
    """
    with mapped(folder):
        fd = os.open(folder / REFUSED, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)  # several processes may put records aside
            size = os.fstat(fd).st_size
            kept = 0
            while kept < len(frames) and size + len(frames[kept]) <= max_bytes:
                size += len(frames[kept])
                kept += 1
            _write(fd, b"".join(frames[:kept]))
            os.fdatasync(fd)
        finally:
            os.close(fd)
    return kept


def _write(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
