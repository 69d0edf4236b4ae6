"""Frames of a file, a window at a time."""

import os

from attrs import evolve

from evidence_lookup.adapters.spool.frames import Scan, scan

_WINDOW = 262_144


def read_frames(fd: int, start: int, end: int, *, is_all: bool = True, most: int) -> Scan:
    """At most *most* frames between the bytes *start* and *end* of the open file *fd*.

    At least one is read, or one damaged stretch passed over, unless nothing is left. Where
    *is_all* is false the file may still grow, and an unfinished frame at its end is left alone.

    Raises:
        OSError: the file cannot be read.
    """
    size = _WINDOW
    while True:
        data = _read(fd, start, min(size, end - start))
        reaches_end = len(data) < size or start + len(data) >= end
        found = scan(data, is_all=is_all and reaches_end, most=most)
        if found.end or reaches_end:
            break
        size *= 4
    moved = (
        evolve(frame, start=frame.start + start, end=frame.end + start) for frame in found.frames
    )
    return Scan(tuple(moved), found.end + start, found.damaged)


def _read(fd: int, start: int, size: int) -> bytes:
    pieces: list[bytes] = []
    while size > 0 and (piece := os.pread(fd, size, start)):
        pieces.append(piece)
        start, size = start + len(piece), size - len(piece)
    return b"".join(pieces)
