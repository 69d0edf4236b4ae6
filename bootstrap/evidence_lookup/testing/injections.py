"""Values that try to leave their place in a query, generated; hypothesis is needed."""

from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any, TypeVar

import anyio
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from evidence_lookup.domain.text import has_controls

T = TypeVar("T")

STORED = "acme"
"""The value that the rows hold which an injection is after."""

_MARKS = [
    '"', "'", "`", "\\", '\\"', "\\'", "\\\\", '""', "''", "(", ")", "[", "]", "{", "}", '")', "')",
    '"]', '"}', "%", "_", "*", "?", "~", "^", ":", "/", "+", "-", "!", "|", "&", "<", ">", "=", ",",
    ";", "#", "@", "$", " ", "  ",
]  # fmt: skip
_MILVUS = [
    " or ", " and ", " not ", " || ", " && ", "true", "1 == 1", " or true or ", "id != ''",
    ' or metadata["tenant"] != "', " in [", " like ", 'tenant like "%', "exists metadata",
    'json_contains(metadata["tenant"], "acme")', "{tenant}",
]  # fmt: skip
_SQL = [
    "' OR '1'='1", "; DROP TABLE knowledge", " --", "/*", "*/", " UNION SELECT ", "NULL", "\\g",
]  # fmt: skip
_LUCENE = [
    "*:*", "tenant:*", " OR ", " AND ", " NOT ", "[* TO *]", "_exists_:tenant", "/.*/", "acm?",
    "acme~1", "acme^9", "(acme OR other)",
]  # fmt: skip
_JSON = [
    '{"match_all": {}}', '"}, {"term": {"tenant": "acme"}}', '{"$gt": ""}', '["acme"]', '"acme"',
    "null", "\\u0022", "\\n", "\\x22", "%22", "&quot;",
]  # fmt: skip
_FORMAT = ["{0}", "{}", "{x!r}", "{0.__class__}", "%s", "%(tenant)s", "${tenant}", "{{7*7}}"]
_LOOK_ALIKES = [
    STORED, "ACME", "Acme", "acme ", "аcme", "ａｃｍｅ", "acmé", "acme\u0301", "acme\u200b",
    "acme\u00a0", "＂", "＇", "“", "’", "´", "ſ", "İ", "ß",
]  # fmt: skip
_UNICODE = [
    "🙂", "👩\u200d👩\u200d👧", "❤\ufe0f", "中文", "한글", "か\u3099", "\u202e", "\u200f", "\u2066",
    "\ufeff", "\u2028", "\u2029", "\u3000", "\U000e0041", "\uffff", "\U0010ffff",
]  # fmt: skip

_pieces = st.sampled_from(
    [*_MARKS, *_MILVUS, *_SQL, *_LUCENE, *_JSON, *_FORMAT, *_LOOK_ALIKES, *_UNICODE]
)

_break_outs = st.tuples(
    st.sampled_from(["", "x", STORED, "中"]),
    st.sampled_from(['"', "'", '\\"', "\\\\'", '")', "')", '"]', "`", "}", "\\", "*", ""]),
    st.sampled_from([*_MILVUS, *_SQL, *_LUCENE, *_JSON]),
    st.sampled_from(['"', "'", '("', "('", '["', "--", "\\", "\\\\", "{", ""]),
).map("".join)

fragments: st.SearchStrategy[str] = st.one_of(
    _break_outs,
    st.lists(_pieces, min_size=1, max_size=6).map("".join),
    st.text(min_size=1, max_size=12),
)
"""Any text; two of three are made of what means something to a query language."""

values: st.SearchStrategy[str] = fragments.filter(
    lambda text: bool(text.strip()) and not has_controls(text)
)
"""What a scope takes as a text."""

queries: st.SearchStrategy[str] = st.lists(
    _pieces | st.sampled_from(["\n", "\r\n", "\t", "\x00", "\x1b", "\ud800", "text"]), max_size=8
).map("".join)
"""What a person may ask, line ends and control characters among it."""

_TRIES = settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def generated(strategy: st.SearchStrategy[T], count: int) -> list[T]:
    """*count* different examples of *strategy*, without chance.

    They are the same ones while the same modules are imported: hypothesis also draws from the
    constants that it finds in these.
    """
    return list(_generated(strategy, count))


async def for_each(
    strategy: st.SearchStrategy[T], do: Callable[[T], Coroutine[Any, Any, None]], *, count: int
) -> None:
    """Run *do* for *count* different examples; one that fails is made small, and raised."""
    try:
        for example in generated(strategy, count):
            await do(example)
    except Exception:
        # Hypothesis is synchronous, and runs in a thread that sends each try back to the loop.
        await anyio.to_thread.run_sync(_shrink, strategy, do, count)
        raise


@cache
def _generated(strategy: st.SearchStrategy[Any], count: int) -> tuple[Any, ...]:
    # By their texts, since in Python True equals 1.
    found: dict[str, Any] = {}

    @settings(_TRIES, max_examples=count + count // 2)
    @given(strategy)
    def collect(example: Any) -> None:
        found.setdefault(repr(example), example)

    collect()
    assert len(found) >= count, f"only {len(found)} of {count} examples differ"
    return tuple(found.values())[:count]


def _shrink(
    strategy: st.SearchStrategy[T], do: Callable[[T], Coroutine[Any, Any, None]], count: int
) -> None:
    """Raise what the smallest failing example raises, if one is found again."""

    @settings(_TRIES, max_examples=count + count // 2)
    @given(strategy)
    def each(example: T) -> None:
        anyio.from_thread.run(do, example)

    each()
