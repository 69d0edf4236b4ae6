"""The files that this process writes: appended to by threads, read by the courier."""

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from attrs import define, field, frozen

from evidence_lookup.adapters.json_values import decode, from_json
from evidence_lookup.adapters.spool.faults import full, mapped
from evidence_lookup.adapters.spool.folder import bytes_in
from evidence_lookup.adapters.spool.frames import VERSION, Frame, framed
from evidence_lookup.adapters.spool.reading import read_frames
from evidence_lookup.adapters.spool.segment import Segment, Waiting, create
from evidence_lookup.domain.errors import StorageError
from evidence_lookup.domain.record import ToolInvocation

BATCH = 100
_CACHED_RECORDS = 1_000
_CACHED_BYTES = 8_000_000
_DELIVERED_BYTES = 1_000_000
_SHARE_OF_DELIVERED = 8
_COUNTED_ANEW_SECONDS = 1.0


@define(eq=False)
class Entry:
    """Records to append together, each with its frame, and why that was not done."""

    records: Sequence[ToolInvocation]
    frames: Sequence[bytes]
    error: StorageError | None = None
    size: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.size = sum(map(len, self.frames))


@frozen
class Batch:
    """What stands in *segment* up to the position `end`, from where it is delivered on.

    `unreadable` are intact frames that this version makes no record of.
    """

    segment: Segment
    end: int
    records: tuple[Waiting, ...] = ()
    unreadable: tuple[bytes, ...] = ()
    damaged: int = 0


class Journal:
    """Appends records to a file of its own, and says which ones wait. Safe with threads.

    A file is emptied when all of it is delivered; under load, where that moment may not come, the
    next one is begun. Some thousand records are kept in memory, further ones are read back.
    """

    def __init__(self, folder: Path, *, max_bytes: int) -> None:
        """Nothing is made yet. *max_bytes* bounds all files in *folder*, to about a second's."""
        self.folder = folder
        self.max_bytes = max_bytes
        self._most_delivered_bytes = min(_DELIVERED_BYTES, max_bytes // _SHARE_OF_DELIVERED)
        self.forget()

    def forget(self) -> None:
        """Know of no files, as in the child of a fork: they are its parent's."""
        self._disk = threading.Lock()
        self._state = threading.Lock()  # never held while the disk is waited for
        self._segments: list[Segment] = []
        self._others_bytes = 0
        self._counted_at = -_COUNTED_ANEW_SECONDS
        self.is_durable = False
        """Whether `flush` writes to the disk itself."""
        self.clearings = 0
        """How often a file was emptied."""

    @property
    def count(self) -> int:
        """How many records of this process wait."""
        with self._state:
            return sum(segment.count for segment in self._segments)

    def undelivered(self) -> Segment | None:
        """The oldest file in which a record of this process waits."""
        with self._state:
            for segment in self._segments:
                if segment.delivered < segment.end:
                    return segment
        return None

    def positions(self) -> dict[str, int]:
        """By the names of this process's files: the byte from which they are to be delivered."""
        with self._state:
            return {one.path.name: one.delivered - one.start for one in self._segments}

    def append(self, entries: Sequence[Entry]) -> None:
        """Write *entries*, each whole or not at all; those that cannot be get their `error`."""
        with self._disk:
            try:
                with mapped(self.folder):
                    self._append(self._fitting(entries))
            except Exception as error:
                # Whatever it is, somebody waits for it.
                for entry in entries:
                    if entry.error is None:
                        entry.error = StorageError(str(error) or type(error).__name__)
                        entry.error.__cause__ = error

    def cached(self, segment: Segment) -> Batch | None:
        """What waits first in *segment*, from memory; None if it must be read."""
        with self._state:
            position = segment.delivered
            records: list[Waiting] = []
            for one in segment.cached:
                if one.start != position or len(records) == BATCH:
                    break
                records.append(one)
                position = one.end
            return Batch(segment, position, tuple(records)) if records else None

    def read(self, segment: Segment) -> Batch | None:
        """What waits first in *segment*, from its file; None if nothing waits there.

        Raises:
            StorageError: the file cannot be read.
        """
        with self._disk, mapped(self.folder):
            with self._state:
                begin, start, end = segment.delivered, segment.start, segment.end
            if begin >= end or not segment.is_open:
                return None
            found = read_frames(segment.fd, begin - start, end - start, most=BATCH)
        stops = found.end + start
        if stops == begin:  # somebody else has cut the file
            return Batch(segment, end, damaged=1)
        records: list[Waiting] = []
        unreadable: list[bytes] = []
        for frame in found.frames:
            try:
                one = Waiting(frame.start + start, frame.end + start, invocation_in(frame))
                records.append(one)
            except ValueError:
                unreadable.append(framed(frame.payload, version=frame.version))
        return Batch(segment, stops, tuple(records), tuple(unreadable), found.damaged)

    def done(self, batch: Batch) -> int:
        """Count *batch* as dealt with: how many of its records had not been before."""
        segment = batch.segment
        with self._disk:
            with self._state:
                fresh = sum(one.start >= segment.delivered for one in batch.records)
                segment.delivered = max(segment.delivered, batch.end)
                segment.count = max(segment.count - fresh, 0)
                while segment.cached and segment.cached[0].start < segment.delivered:
                    segment.cached.popleft()
                is_through = segment.delivered >= segment.end
            # A file that cannot be emptied now is removed later; what it holds is delivered.
            with suppress(OSError):
                if is_through:
                    self._empty(segment)
        return fresh

    def endure(self, durable: bool) -> None:
        """From now on have `flush` write to the disk itself, or not; at first what is there.

        Raises:
            StorageError: what is in the files cannot be written to the disk.
        """
        if durable == self.is_durable:
            return
        with self._disk, mapped(self.folder):
            self.is_durable = durable
            for segment in self._segments if durable else ():
                segment.sync()

    def flush(self) -> None:
        """Where records are to endure, write what was appended last to the disk itself.

        Raises:
            StorageError: the disk refuses.
        """
        if self.is_durable:
            with self._disk, mapped(self.folder):
                for segment in self._segments[-1:]:
                    segment.sync()

    def close(self) -> None:
        """Let the files go; what waits in them is left to the next process. Used again after."""
        with self._disk:
            with self._state:
                segments, self._segments = self._segments, []
            for segment in segments:
                with suppress(OSError):
                    if segment.delivered >= segment.end:
                        segment.remove()
                segment.close()

    def _append(self, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        segment = self._current()
        place = segment.end
        segment.append(b"".join(frame for entry in entries for frame in entry.frames))
        with self._state:
            segment.count += sum(len(entry.records) for entry in entries)
            cached = segment.cached
            for entry in entries:
                for record, frame in zip(entry.records, entry.frames, strict=True):
                    end = place + len(frame)
                    kept = len(cached) < _CACHED_RECORDS
                    if kept and (not cached or end - cached[0].start < _CACHED_BYTES):
                        cached.append(Waiting(place, end, record))
                    place = end

    def _current(self) -> Segment:
        segment = self._segments[-1] if self._segments else None
        if (
            segment is None
            or segment.is_torn
            or segment.delivered - segment.start > self._most_delivered_bytes
            or not segment.is_linked
        ):
            segment = create(self.folder)
            with self._state:
                through = [one for one in self._segments if one.delivered >= one.end]
                left = [one for one in self._segments if one.delivered < one.end]
                self._segments = [*left, segment]
            for one in through:
                one.remove()
        return segment

    def _fitting(self, entries: Sequence[Entry]) -> list[Entry]:
        own = sum(one.end - one.start for one in self._segments)
        if time.monotonic() - self._counted_at >= _COUNTED_ANEW_SECONDS:
            self._others_bytes = max(bytes_in(self.folder) - own, 0)
            self._counted_at = time.monotonic()
        fitting: list[Entry] = []
        used = own + self._others_bytes
        for entry in entries:
            if used + entry.size > self.max_bytes:
                entry.error = full(self.folder, max_bytes=self.max_bytes)
            else:
                used += entry.size
                fitting.append(entry)
        return fitting

    def _empty(self, segment: Segment) -> None:
        with self._state:
            is_current = bool(self._segments) and segment is self._segments[-1]
            if not is_current and segment in self._segments:
                self._segments.remove(segment)
        if is_current and segment.is_linked and not segment.is_torn:
            segment.clear()
            segment.count = 0
            self.clearings += 1
        elif not is_current:
            segment.remove()


def invocation_in(frame: Frame) -> ToolInvocation:
    """The record in *frame*.

    Raises:
        ValueError: there is none that this version can read.
    """
    if frame.version != VERSION:
        raise ValueError(f"a frame of version {frame.version}")
    return from_json(ToolInvocation, decode(frame.payload.decode()))
