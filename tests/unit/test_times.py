"""Times as a command line gives them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from evidence_lookup.command.times import period_from, time_from
from evidence_lookup.domain.errors import CallerError

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        (" 2026-03-01T14:30 ", datetime(2026, 3, 1, 14, 30, tzinfo=UTC)),
        ("2026-03-01 14:30:05.25", datetime(2026, 3, 1, 14, 30, 5, 250_000, tzinfo=UTC)),
        ("2026-03-01T14:30Z", datetime(2026, 3, 1, 14, 30, tzinfo=UTC)),
        ("2026-03-01T14:30-05:30", datetime(2026, 3, 1, 20, 0, tzinfo=UTC)),
        ("90m", datetime(2026, 3, 15, 8, 30, tzinfo=UTC)),
        ("2h", datetime(2026, 3, 15, 8, 0, tzinfo=UTC)),
        ("7d", datetime(2026, 3, 8, 10, 0, tzinfo=UTC)),
        ("2w", datetime(2026, 3, 1, 10, 0, tzinfo=UTC)),
        ("0m", datetime(2026, 3, 15, 10, 0, tzinfo=UTC)),
    ],
)
def test_a_time_is_iso_8601_or_a_span_back_from_now(text: str, time: datetime) -> None:
    """Without a zone it counts as UTC; with one, or as a span, it is brought to UTC."""
    read = time_from(text, now=NOW)
    assert (read, read.tzinfo) == (time, UTC)


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-13-01", "-2h", "1.5h", "2 h", "2y", "h", "٢h", "9" * 12 + "w",
     "9" * 5_000 + "d", "0001-01-01T00:00+05:00"],
)  # fmt: skip
def test_a_wrong_time_is_refused_with_its_option_and_examples(text: str) -> None:
    """Words, fractions, other units and times out of the calendar are the caller's mistake."""
    with pytest.raises(CallerError, match=r"^--until .*no time.*2026-03-01.*90m, 2h, 7d, 2w"):
        time_from(text, now=NOW, option="--until")


def test_a_period_runs_forward() -> None:
    """An end at or before the beginning is refused; an end that is not given is open."""
    assert period_from(None, None) == (None, None)
    assert period_from("2h", "1h", now=NOW) == (
        datetime(2026, 3, 15, 8, 0, tzinfo=UTC),
        datetime(2026, 3, 15, 9, 0, tzinfo=UTC),
    )
    with pytest.raises(CallerError, match=r"--since '1h' is not before --until '2h'"):
        period_from("1h", "2h", now=NOW)
