"""Times as a command line gives them."""

import re
from datetime import UTC, datetime, timedelta

from evidence_lookup.domain.errors import CallerError

_SPAN = re.compile(r"([0-9]+)([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_EXAMPLES = "2026-03-01, 2026-03-01T14:30, 2026-03-01T14:30+02:00, or 90m, 2h, 7d, 2w back from now"


def time_from(text: str, *, now: datetime, option: str = "--since") -> datetime:
    """*text* as an aware time in UTC; *now* is aware, *option* is whose value *text* is.

    Either an ISO 8601 date or time, which without a zone counts as UTC, or a span back from
    *now*: a whole number of minutes, hours, days or weeks (``90m``, ``2h``, ``7d``, ``2w``).

    Raises:
        CallerError: *text* is neither, or lies before the year 1 or after 9999.
    """
    given = text.strip()
    try:
        if span := _SPAN.fullmatch(given):
            amount, unit = span.groups()
            return now.astimezone(UTC) - timedelta(**{_UNITS[unit]: int(amount)})
        time = datetime.fromisoformat(given)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise CallerError(
            f"{option} {text!r} is no time: give an ISO 8601 one, in UTC if it has no zone, or a "
            f"span ({_EXAMPLES})"
        ) from None


def period_from(
    since: str | None, until: str | None, *, now: datetime | None = None
) -> tuple[datetime | None, datetime | None]:
    """The values of ``--since`` and ``--until`` as aware times in UTC, None where not given.

    Raises:
        CallerError: as for `time_from`, or nothing lies between the two.
    """
    now = now or datetime.now(UTC)
    start = None if since is None else time_from(since, now=now, option="--since")
    end = None if until is None else time_from(until, now=now, option="--until")
    if start is not None and end is not None and start >= end:
        raise CallerError(f"--since {since!r} is not before --until {until!r}: nothing lies there")
    return start, end
