"""Clocks and ids."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from evidence_lookup.adapters.memory.clock import ManualClock
from evidence_lookup.adapters.system import SystemClock, new_id
from evidence_lookup.ports.clock import Clock, NewId


def test_the_system_clock_tells_the_time_in_utc() -> None:
    """The time of day is aware, in UTC, and the machine's."""
    clock: Clock = SystemClock()
    before, now, after = datetime.now(UTC), clock.now(), datetime.now(UTC)
    assert before <= now <= after
    assert now.utcoffset() == timedelta(0)


def test_elapsed_time_never_goes_back() -> None:
    """Later readings of the counter are not smaller."""
    clock: Clock = SystemClock()
    readings = [clock.elapsed() for _ in range(1_000)]
    assert readings == sorted(readings)


def test_the_manual_clock_stands_until_it_is_moved() -> None:
    """Time goes by only when it is told to; setting the time of day elapses none."""
    clock = ManualClock()
    start = clock.now()
    assert isinstance(clock, ManualClock)
    assert (clock.now(), clock.elapsed()) == (start, 0.0)
    clock.advance(1.5)
    assert (clock.now(), clock.elapsed()) == (start + timedelta(seconds=1.5), 1.5)
    clock.set(start)
    assert (clock.now(), clock.elapsed()) == (start, 1.5)
    with pytest.raises(ValueError, match="does not go back"):
        clock.advance(-1)
    as_port: Clock = clock
    assert as_port.now().tzinfo is UTC


def test_new_ids_are_canonical_and_sort_by_age() -> None:
    """Ids are UUIDv7 in canonical text: all differ, and each sorts behind the one before."""
    make: NewId = new_id
    ids = [make() for _ in range(10_000)]
    assert ids == sorted(set(ids))
    assert all(str(UUID(one)) == one and UUID(one).version == 7 for one in ids[:100])
