"""Values of the domain survive JSON."""

import json
import math
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast

import pytest
from attrs import evolve, fields, frozen
from hypothesis import given
from hypothesis import strategies as st
from tests.arbitrary import any_of

from evidence_lookup.adapters.json_values import decode, dumps, encode, from_json, to_json
from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.projection import Projection
from evidence_lookup.domain.record import RetrievalDetails, ToolInvocation
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.testing import samples

_KINDS: tuple[type[Any], ...] = (ToolInvocation, LookupResult, Projection, CatalogueEntry)
_VALUES = st.sampled_from(_KINDS).flatmap(lambda kind: st.tuples(st.just(kind), any_of(kind)))


@given(_VALUES)
def test_a_value_comes_back_from_json_text_equal(given: tuple[type[Any], Any]) -> None:
    """What `dumps` writes can be encoded as UTF-8, and `from_json` gives the value again."""
    kind, value = given
    text = dumps(value).encode("utf-8").decode("utf-8")
    assert from_json(kind, decode(text)) == value


@given(_VALUES)
def test_json_has_the_names_of_the_attributes(given: tuple[type[Any], Any]) -> None:
    """The keys of an object are the attribute names, in their order."""
    kind, value = given
    assert list(to_json(value)) == [one.name for one in fields(kind)]


@given(_VALUES)
def test_to_json_gives_plain_values_only(given: tuple[type[Any], Any]) -> None:
    """Nothing but dicts with text keys, lists, texts, numbers, booleans and None comes out."""

    def check(part: object) -> None:
        assert type(part) in (dict, list, str, int, float, bool, type(None))
        if isinstance(part, dict):
            for key, inner in cast("dict[object, object]", part).items():
                assert type(key) is str
                check(inner)
        elif isinstance(part, list):
            for inner in cast("list[object]", part):
                check(inner)

    check(to_json(given[1]))


def test_retrieval_details_have_exactly_their_six_keys() -> None:
    """`retrieval_details` in JSON holds the names of the record's contract (R45, R47)."""
    assert list(to_json(samples.invocation().retrieval_details)) == [
        "query_transform",
        "retrieval_trace",
        "context_pack_summary",
        "rerank_trace",
        "evidence_blocks",
        "fallback_reason",
    ]


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_becomes_null(odd: float) -> None:
    """No bare NaN or Infinity ever stands in JSON; read back, null is NaN (C26)."""
    record = evolve(samples.invocation(), duration_seconds=odd, timings={"retrieve": odd})
    text = dumps(record)
    assert decode(text)["duration_seconds"] is None
    assert "NaN" not in text
    assert "Infinity" not in text
    read = from_json(ToolInvocation, decode(text))
    assert math.isnan(read.duration_seconds)
    assert math.isnan(read.timings["retrieve"])


@frozen
class _Odd:
    mode: SearchMode
    modes: frozenset[SearchMode]
    folder: Path
    numbers: tuple[float, ...]
    anything: Any


def test_enums_sets_paths_and_nested_values_become_plain() -> None:
    """Enums stand by value, sets sorted, paths as text, also where a field may hold anything."""
    value = _Odd(
        SearchMode.DENSE,
        frozenset(SearchMode),
        Path("docs/a.md"),
        (1.0, math.nan),
        {"modes": (SearchMode.KEYWORD,), "mixed": frozenset({"b", 1})},
    )
    assert json.loads(dumps(value)) == {
        "mode": "dense",
        "modes": ["dense", "hybrid", "keyword"],
        "folder": "docs/a.md",
        "numbers": [1.0, None],
        "anything": {"modes": ["keyword"], "mixed": [1, "b"]},
    }


def test_times_are_in_utc_with_offset() -> None:
    """A time in any zone is written in UTC; one without a zone counts as UTC."""
    eight_ahead = timezone(timedelta(hours=8))
    assert (
        to_json(datetime(2025, 3, 9, 7, tzinfo=eight_ahead)) == "2025-03-08T23:00:00.000000+00:00"
    )
    assert to_json(datetime(2025, 3, 9, 7)) == to_json(datetime(2025, 3, 9, 7, tzinfo=UTC))


def test_text_is_compact_and_readable() -> None:
    """Text of any script stands as itself, without spaces between the parts."""
    assert encode({"a": ["豆腐 😀", 1]}) == '{"a":["豆腐 😀",1]}'


@pytest.mark.parametrize("text", ["\ud800", "a\udcffb", "\udfff\ud800"])
def test_a_lone_surrogate_survives_as_an_escape(text: str) -> None:
    """Text that UTF-8 cannot encode is written by escapes, in keys too, and read back equal."""
    written = encode({text: text})
    assert decode(written.encode("utf-8").decode("utf-8")) == {text: text}


def test_a_value_that_json_does_not_know_is_refused() -> None:
    """An object that is no JSON is an error, never its representation."""
    with pytest.raises(TypeError):
        dumps({"a": object()})


@pytest.mark.parametrize("data", [None, 3, "x", [], {}, {"query_transform": 3}])
def test_what_is_not_the_json_of_a_class_is_refused(data: object) -> None:
    """Foreign JSON gives one kind of error, which names the class."""
    with pytest.raises(ValueError, match="this is not the JSON of a RetrievalDetails"):
        from_json(RetrievalDetails, data)


def test_unknown_keys_are_passed_over() -> None:
    """A record that a later version wrote with more keys can be read."""
    value = samples.entry()
    assert from_json(CatalogueEntry, {**to_json(value), "later": 1}) == value
