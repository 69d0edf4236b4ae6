"""What is asked of Elasticsearch, as structures."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence_lookup.adapters.elasticsearch.layout import Layout
from evidence_lookup.adapters.elasticsearch.query import (
    clauses,
    conditions,
    filter_term,
    filter_terms,
    words,
)
from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings
from evidence_lookup.domain.errors import SchemaMismatchError
from evidence_lookup.domain.filters import HintFilter, Scope

SETTINGS = ElasticsearchSettings()
OWN = Layout("knowledge", 4, "cosine", True, "keyword_text", "model", {"properties": {}})
values = st.one_of(st.text(max_size=2_000), st.integers(), st.booleans())


def foreign(metadata: dict[str, Any], **root: Any) -> Layout:
    """An index that others made, with the mapping *metadata* of its metadata."""
    root = {"properties": {"metadata": metadata}, **root}
    return Layout("theirs", 4, "cosine", True, "content", None, root)


def asked(layout: Layout, **scope: Any) -> list[dict[str, Any]]:
    """The filters for *scope*."""
    return clauses(conditions(Scope(scope), None), layout, SETTINGS)


@settings(deadline=None, derandomize=True)
@given(one=values, two=values)
def test_C28_a_term_is_one_value(one: str | int | bool, two: str | int | bool) -> None:
    """Two values have one term only if they are equal and of one type; none is too long."""
    terms = [filter_term("name", one), filter_term("name", two)]
    assert (terms[0] == terms[1]) == ((type(one), one) == (type(two), two))
    assert max(len(term.encode()) for term in terms) <= 1_024


@settings(deadline=None, derandomize=True)
@given(name=st.text(max_size=50), value=values)
def test_C29_a_term_is_of_one_name(name: str, value: str | int | bool) -> None:
    """A name and value cannot be mistaken for another name and value."""
    assert filter_term("n", value) != filter_term("n=" + name, value)


def test_every_single_value_can_be_asked_for() -> None:
    """Texts, whole numbers and booleans of the metadata have terms; lists and the rest do not."""
    metadata = {"a": "x", "b": 3, "c": True, "d": ["x"], "e": 3.5, "f": None, "g": "\ud800"}
    assert filter_terms(metadata) == ['a="x"', "b=3", "c=true", 'g="\\ud800"']


def test_C35_all_conditions_stand_together() -> None:
    """Each name of the scope and the hint's category is a filter of its own."""
    both = conditions(Scope({"tenant": "acme", "level": (1, 2)}), HintFilter("ops"))
    assert clauses(both, OWN, SETTINGS) == [
        {"terms": {"filter_terms": ["level=1", "level=2"]}},
        {"terms": {"filter_terms": ['tenant="acme"']}},
        {"terms": {"filter_terms": ['category="ops"']}},
    ]


@pytest.mark.parametrize(
    ("field", "value", "clause"),
    [
        ({"type": "keyword"}, ("a", 1, True), {"terms": {"metadata.x": ["a", "1", "true"]}}),
        (
            {"type": "text", "fields": {"raw": {"type": "keyword"}}},
            "a",
            {"terms": {"metadata.x.raw": ["a"]}},
        ),
        ({"type": "long"}, (1, "2", "a", True), {"terms": {"metadata.x": [1, 2]}}),
        ({"type": "byte"}, (1, 200, 2**70), {"terms": {"metadata.x": [1]}}),
        ({"type": "double"}, 3, {"terms": {"metadata.x": [3]}}),
        ({"type": "long"}, "a", {"match_none": {}}),
        ({"type": "boolean"}, (True, "false", 1), {"terms": {"metadata.x": ["true", "false"]}}),
        ({"type": "boolean"}, 1, {"match_none": {}}),
    ],
)
def test_R31_filters_by_the_mapping(
    field: dict[str, Any], value: Any, clause: dict[str, Any]
) -> None:
    """Each type of field is asked for what it can hold, and for nothing that the server refuses."""
    assert asked(foreign({"properties": {"x": field}}), x=value) == [clause]


def test_R31_flattened_metadata() -> None:
    """A flattened object is asked by path, with values as it keeps them."""
    assert asked(foreign({"type": "flattened"}), plan=(1, True)) == [
        {"terms": {"metadata.plan": ["1", "true"]}}
    ]


def test_R31_a_dot_may_lead_into_an_object() -> None:
    """A name with a dot is found whole, or below an object."""
    keyword = {"type": "keyword"}
    for metadata in (
        {"properties": {"team.name": keyword}},
        {"properties": {"team": {"properties": {"name": keyword}}}},
    ):
        scope = Scope({"team.name": "x"})
        assert clauses(conditions(scope, None), foreign(metadata), SETTINGS) == [
            {"terms": {"metadata.team.name": ["x"]}}
        ]


@pytest.mark.parametrize(
    "metadata",
    [
        {"properties": {"x": {"type": "text"}}},
        {"properties": {"x": {"type": "date"}}},
        {"properties": {"x": {"properties": {"y": {"type": "keyword"}}}}},
        {"properties": {"x": {"type": "keyword", "index": False, "doc_values": False}}},
        {"dynamic": "false", "properties": {}},
        {"enabled": False},
    ],
)
def test_R26_what_cannot_be_filtered_is_refused(metadata: dict[str, Any]) -> None:
    """A scope that the mapping cannot answer is an error that names the field, never ignored."""
    with pytest.raises(SchemaMismatchError, match=r"'metadata\.x'.*keyword"):
        asked(foreign(metadata), x="a")


@pytest.mark.parametrize("dynamic", ["true", "strict", "runtime"])
def test_a_name_that_no_row_has_matches_none(dynamic: str) -> None:
    """Where the mapping learns every name, one that it does not know is in no row."""
    layout = foreign({"properties": {}}, dynamic=dynamic)
    assert asked(layout, x="a") == [{"match_none": {}}]


def test_runtime_fields_are_known() -> None:
    """A field that the server makes at search time is asked by its type."""
    layout = foreign({"properties": {}}, runtime={"metadata.x": {"type": "long"}})
    assert asked(layout, x=(1, "a")) == [{"terms": {"metadata.x": [1]}}]


def test_C52_words_of_an_own_index() -> None:
    """A query becomes the terms that were indexed: small letters, CJK as pairs, each once."""
    assert words("Redis 麻婆豆腐 redis 서울!", OWN) == "redis 麻婆 婆豆 豆腐 서울"


@pytest.mark.parametrize("layout", [OWN, foreign({})], ids=["own", "foreign"])
@pytest.mark.parametrize("unit", ["w{} ", "中文{}字", "{}", "é-{}."])
def test_C54_a_long_query_is_bounded(layout: Layout, unit: str) -> None:
    """A query of any length makes at most 512 clauses, from its beginning."""
    query = "".join(unit.format(n) for n in range(5_000))
    found = words(query, layout)
    count = sum(
        sum(1 for char in word if "\u4e00" <= char <= "\u9fff") or 1 for word in found.split()
    )
    assert 0 < count <= 1_024
    assert len(found) <= 8_192
    if layout.is_own:
        assert len(found.split()) <= 512


@pytest.mark.parametrize("layout", [OWN, foreign({})], ids=["own", "foreign"])
@pytest.mark.parametrize("query", ["", "  ", "!?。", "🙂", "\n", "\u200b", "\ud800"])
def test_no_words(layout: Layout, query: str) -> None:
    """A text without words asks for nothing."""
    assert words(query, layout) == ""


@settings(deadline=None, derandomize=True)
@given(query=st.text(max_size=300))
def test_words_can_be_sent(query: str) -> None:
    """Whatever the query, its words can be written as UTF-8."""
    for layout in (OWN, foreign({})):
        words(query, layout).encode()
