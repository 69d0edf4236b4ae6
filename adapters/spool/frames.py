"""How records stand in a spool file: one frame each, so that a torn one harms no other.

A frame is the magic (4 bytes), the version of what it holds (1), the length of the payload (4),
the CRC-32 of version, length and payload (4), and the payload; numbers are big-endian. Of version
1 the payload is the record's JSON in UTF-8. These 13 bytes stay as they are in every version. The
magic begins with a byte that UTF-8 never uses: after damage the next frame is found by it.
"""

import struct
import zlib

from attrs import frozen

MAGIC = b"\xfeEvR"
VERSION = 1
_NUMBERS = struct.Struct(">BI")
_CRC = struct.Struct(">I")
_CRC_AT = len(MAGIC) + _NUMBERS.size
_HEADER = _CRC_AT + _CRC.size


@frozen
class Frame:
    """An intact frame: its first byte, the byte after its last, and what it holds."""

    start: int
    end: int
    version: int
    payload: bytes


@frozen
class Scan:
    """The frames of a piece of a file, in order.

    `end` is the byte after the last that is done with; `damaged` counts the stretches before it
    that are no intact frame.
    """

    frames: tuple[Frame, ...]
    end: int
    damaged: int


def framed(payload: bytes, *, version: int = VERSION) -> bytes:
    """*payload* as a frame."""
    numbers = _NUMBERS.pack(version, len(payload))
    crc = zlib.crc32(payload, zlib.crc32(numbers))
    return b"".join((MAGIC, numbers, _CRC.pack(crc), payload))


def scan(data: bytes, *, is_all: bool, most: int) -> Scan:
    """At most *most* frames of *data*, from its beginning.

    Where *is_all* is false more may follow: what may be the beginning of a frame is left for then.
    """
    frames: list[Frame] = []
    place = damaged = 0
    while place < len(data) and len(frames) < most:
        frame = _frame_at(data, place)
        if frame is not None:
            frames.append(frame)
            place = frame.end
            continue
        if not is_all and _end_of_frame_at(data, place) > len(data):
            break
        following = data.find(MAGIC, place + 1)
        if following < 0 and not is_all:
            break
        place = len(data) if following < 0 else following
        damaged += 1
    return Scan(tuple(frames), place, damaged)


def _end_of_frame_at(data: bytes, place: int) -> int:
    header = data[place : place + _HEADER]
    if len(header) < _HEADER:
        return place + _HEADER
    if not header.startswith(MAGIC):
        return place
    _, length = _NUMBERS.unpack_from(header, len(MAGIC))
    return place + _HEADER + int(length)


def _frame_at(data: bytes, place: int) -> Frame | None:
    end = _end_of_frame_at(data, place)
    if not place < end <= len(data):
        return None
    version, _ = _NUMBERS.unpack_from(data, place + len(MAGIC))
    (crc,) = _CRC.unpack_from(data, place + _CRC_AT)
    payload = data[place + _HEADER : end]
    if zlib.crc32(payload, zlib.crc32(data[place + len(MAGIC) : place + _CRC_AT])) != crc:
        return None
    return Frame(place, end, version, payload)
