"""Whatever befalls a spool file, every intact frame comes back, and nothing else (R49)."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.arbitrary import any_of

from evidence_lookup.adapters.json_values import dumps
from evidence_lookup.adapters.spool.frames import MAGIC, VERSION, framed, scan
from evidence_lookup.adapters.spool.journal import invocation_in
from evidence_lookup.adapters.spool.reading import read_frames
from evidence_lookup.domain.record import ToolInvocation

_TEXTS = st.text(max_size=60).map(str.encode)
_PAYLOADS = st.lists(_TEXTS, min_size=1, max_size=8)
_ALL = 1_000


def found_in(data: bytes) -> list[bytes]:
    """The payloads of the frames in *data*."""
    return [frame.payload for frame in scan(data, is_all=True, most=_ALL).frames]


@given(any_of(ToolInvocation))
def test_any_record_comes_back_equal(record: ToolInvocation) -> None:
    """What is written of a record is read as the same record."""
    (frame,) = scan(framed(dumps(record).encode()), is_all=True, most=_ALL).frames
    assert frame.version == VERSION
    assert dumps(invocation_in(frame)) == dumps(record)


@given(_PAYLOADS, st.data())
def test_R49_a_file_that_ends_anywhere_loses_the_last_frame_only(
    payloads: list[bytes], data: st.DataObject
) -> None:
    """After a write that was cut off, all that was whole before it is read."""
    frames = [*map(framed, payloads)]
    whole = b"".join(frames)
    end = data.draw(st.integers(0, len(whole)))
    intact: list[bytes] = []
    for payload, frame in zip(payloads, frames, strict=True):
        if sum(len(framed(one)) for one in intact) + len(frame) > end:
            break
        intact.append(payload)
    found = scan(whole[:end], is_all=True, most=_ALL)
    assert [frame.payload for frame in found.frames] == intact
    assert found.end == end
    assert found.damaged == (end > sum(len(framed(one)) for one in intact))
    unfinished = scan(whole[:end], is_all=False, most=_ALL)
    assert unfinished.frames == found.frames
    assert unfinished.damaged == 0


@given(_PAYLOADS, st.integers(1, 255), st.data())
def test_R49_a_changed_byte_loses_one_frame(
    payloads: list[bytes], change: int, data: st.DataObject
) -> None:
    """Wherever a byte is another, the frames around it are read, and its own is not."""
    frames = [*map(framed, payloads)]
    hit = data.draw(st.integers(0, len(frames) - 1))
    place = data.draw(st.integers(0, len(frames[hit]) - 1))
    broken = bytearray(frames[hit])
    broken[place] ^= change
    frames[hit] = bytes(broken)
    expected = [payload for number, payload in enumerate(payloads) if number != hit]
    found = scan(b"".join(frames), is_all=True, most=_ALL)
    assert [frame.payload for frame in found.frames] == expected
    assert found.damaged >= 1


@given(st.lists(st.one_of(_TEXTS.map(framed), st.binary(max_size=40), st.just(MAGIC)), max_size=9))
def test_R49_what_is_no_frame_is_passed_over(pieces: list[bytes]) -> None:
    """Between any rubbish the intact frames are found, in order, and no others."""
    data = b"".join(pieces)
    intact = [piece for piece in pieces if len(found_in(piece)) == 1]
    found = scan(data, is_all=True, most=_ALL)
    assert [data[frame.start : frame.end] for frame in found.frames] == intact
    assert found.end == len(data)


@given(_PAYLOADS, st.integers(1, 3), st.binary(max_size=300_000))
def test_R49_a_file_read_in_pieces_is_the_same_file(
    payloads: list[bytes], most: int, rubbish: bytes
) -> None:
    """However few frames are read at a time, and however far apart, all come, each once."""
    rubbish = rubbish.replace(MAGIC[:1], b"")
    half = len(payloads) // 2
    pieces = [*map(framed, payloads)]
    whole = b"".join([*pieces[:half], rubbish, *pieces[half:]])
    found: list[bytes] = []
    damaged = place = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.spool")
        path.write_bytes(whole)
        with path.open("rb") as file:
            while place < len(whole):
                read = read_frames(file.fileno(), place, len(whole), most=most)
                assert read.end > place
                found += [frame.payload for frame in read.frames]
                place, damaged = read.end, damaged + read.damaged
    assert found == payloads
    assert damaged == bool(rubbish)
