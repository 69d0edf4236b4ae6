"""One spool file, held under a lock by the process that writes or delivers it."""

import fcntl
import os
import secrets
import weakref
from collections import deque
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from attrs import frozen

from evidence_lookup.domain.record import ToolInvocation

SUFFIX = ".spool"
_TRIES = 100
_sync = getattr(os, "fdatasync", os.fsync)  # macOS has only the latter


@frozen
class Waiting:
    """A record between two positions of its file."""

    start: int
    end: int
    invocation: ToolInvocation


class Segment:
    """A file of frames, of which those before `delivered` need not be delivered any more.

    Positions count bytes, and go on counting when the file is cleared: `start` is that of the
    file's first byte, `end` that after its last. The lock lasts as long as the object: a file
    whose lock can be taken has been left. It is the system's (flock), so it ends with the process.
    """

    def __init__(self, path: Path, fd: int, *, size: int = 0) -> None:
        """*fd* is open for reading and appending, and locked."""
        self.path = path
        self.fd = fd
        self.start = 0
        self.end = size
        self.delivered = 0
        self.count = 0
        """Records that were appended by this object and wait."""
        self.cached: deque[Waiting] = deque()
        """Some of the records that wait, in the order of the file."""
        self.is_torn = False
        """Whether something stands after `end` that could not be undone."""
        self._is_named_durably = False
        _held.add(self)

    def __del__(self) -> None:
        self.close()

    @property
    def is_open(self) -> bool:
        """Whether the file is held."""
        return self.fd >= 0

    @property
    def is_linked(self) -> bool:
        """Whether the file still stands in a folder."""
        return self.is_open and os.fstat(self.fd).st_nlink > 0

    def append(self, data: bytes) -> None:
        """Write *data* at the end of the file, all or nothing.

        Raises:
            OSError: the file cannot be written.
        """
        size = self.end - self.start
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self.fd, rest) :]
        except OSError:
            # Where even this fails a torn frame stays, which readers pass over.
            self.is_torn = True
            with suppress(OSError):
                os.ftruncate(self.fd, size)
                self.is_torn = False
            raise
        self.end += len(data)

    def sync(self) -> None:
        """Have what was appended written to the disk itself.

        Raises:
            OSError: the disk refuses.
        """
        _sync(self.fd)
        if not self._is_named_durably:
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
            self._is_named_durably = True

    def clear(self) -> None:
        """Empty the file.

        Raises:
            OSError: the file cannot be written.
        """
        os.ftruncate(self.fd, 0)
        self.start = self.end

    def remove(self) -> None:
        """Delete the file, and let it go.

        Raises:
            OSError: the file cannot be deleted.
        """
        if self.is_linked:  # another file may have its name by now
            self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Let the file go: the next process may take it. May be repeated."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)


def create(folder: Path) -> Segment:
    """A new, empty file in *folder*, which is made if need be. Names sort by age.

    Raises:
        OSError: it cannot be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for _ in range(_TRIES):
        now = datetime.now(UTC)
        path = folder / f"{now:%Y%m%dT%H%M%S}-{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}"
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
        segment = Segment(path, fd)
        if _lock(segment):
            return segment
        # Another process took it, as a file that was left, before it was locked.
        path.unlink(missing_ok=True)
        segment.close()
    raise OSError(f"no file in {folder} can be locked")


def adopt(path: Path) -> Segment | None:
    """The file at *path* if its process has left it; None if it is held, gone or not ours.

    Raises:
        OSError: it cannot be locked.
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW)
    except OSError:
        return None  # one that cannot be opened must not keep the others waiting
    segment = Segment(path, fd)
    if not _lock(segment):
        segment.close()
        return None
    segment.end = os.fstat(fd).st_size  # now that nobody appends
    return segment


def _lock(segment: Segment) -> bool:
    try:
        fcntl.flock(segment.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return segment.is_linked


def _close_all() -> None:
    for segment in [*_held]:
        segment.close()


# Held by the child of a fork too, a file would seem in use after the end of its process.
_held: "weakref.WeakSet[Segment]" = weakref.WeakSet()
os.register_at_fork(after_in_child=_close_all)
