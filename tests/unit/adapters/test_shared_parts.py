"""What several adapters share."""

import logging
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence_lookup.adapters.batches import batches
from evidence_lookup.adapters.quiet_loggers import QuietLoggers


@given(st.lists(st.integers(0, 40)), st.integers(1, 100))
def test_batches_are_bounded(sizes: list[int], limit: int) -> None:
    """Nothing is lost or turned round, and only a thing that is too large itself goes beyond."""
    cut = list(batches(sizes, lambda size: size, limit=limit))
    assert [size for batch in cut for size in batch] == sizes
    assert all(batch and (sum(batch) <= limit or len(batch) == 1) for batch in cut)
    assert all(sum(a) + b[0] > limit for a, b in pairwise(cut))


def test_loggers_are_quiet_inside_only(caplog: pytest.LogCaptureFixture) -> None:
    """What is said inside is left out, there alone, and other loggers speak on."""
    told, other = logging.getLogger("test.quiet"), logging.getLogger("test.other")
    loggers = QuietLoggers("test.quiet")
    for n in range(2):
        with loggers.quiet():
            told.error("inside %s", n)
            other.error("other %s", n)
        told.error("outside %s", n)
    assert caplog.messages == ["other 0", "outside 0", "other 1", "outside 1"]
    assert len(told.filters) == 1
