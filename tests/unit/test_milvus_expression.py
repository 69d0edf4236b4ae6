"""Filter values never leave their literals."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence_lookup.adapters.milvus.expression import (
    document_expression,
    filter_expression,
    id_expression,
    literal,
)
from evidence_lookup.domain.errors import ScopeError
from evidence_lookup.domain.filters import HintFilter, Scope

_PRINTABLE = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1).filter(str.strip)
_LITERAL = re.compile(r'"(?:[^"\\]|\\["\\])*"')


@given(_PRINTABLE)
def test_C28_a_text_is_one_literal(value: str) -> None:
    """Any printable text is one double-quoted literal, read back as itself, in raw UTF-8."""
    written = literal(value)
    assert _LITERAL.fullmatch(written)
    assert json.loads(written) == value
    assert "\\u" not in _LITERAL.sub("", written)


@given(_PRINTABLE, _PRINTABLE)
def test_C28_only_literals_come_from_values(value: str, category: str) -> None:
    """Without its literals an expression is the same whatever the values are."""
    scope = Scope({"tenant": (value, "acme"), "user": value})
    expression = filter_expression("metadata", scope, HintFilter(category))
    bare = _LITERAL.sub("?", expression)
    assert bare == (
        "((metadata[?] == ? or metadata[?] == ?) and (metadata[?] == ? and metadata[?] == ?))"
    )


@given(st.integers(1 - 2**63, 2**63 - 1) | st.booleans())
def test_numbers_and_booleans_are_no_text(value: int | bool) -> None:
    """Numbers and booleans stand without quotes, and no boolean is a number."""
    written = literal(value)
    assert json.loads(written) == value
    assert type(json.loads(written)) is type(value)


@pytest.mark.parametrize("value", ["a\nb", "\x01", "\x7f", "\x85", "\ud800", 2**63, -(2**63)])
def test_C32_what_no_literal_holds_is_refused(value: str | int) -> None:
    """Control characters, lone surrogates and numbers beyond 64 bits are refused."""
    with pytest.raises(ScopeError):
        literal(value)


@pytest.mark.parametrize("name", ['a"] != ""', "a b", "", "ü", "1", "a" * 65, "a]"])
def test_C29_a_name_is_checked_here_too(name: str) -> None:
    """A name that passed no scope is refused all the same."""
    scope = Scope()
    object.__setattr__(scope, "values", {name: "x"})
    with pytest.raises(ScopeError):
        filter_expression("metadata", scope)


def test_C41_the_field_is_the_configured_one() -> None:
    """The expression uses the metadata field that the settings name."""
    scope = Scope({"tenant": "acme"})
    assert filter_expression("meta", scope) == 'meta["tenant"] == "acme"'
    assert document_expression("meta", ["a", 'b"']) == (
        '(meta["doc_id"] == "a" or meta["doc_id"] == "b\\"")'
    )
    assert id_expression("pk", ["a", "b'"]) == 'pk in ["a", "b\'"]'


def test_C33_C36_a_list_is_equalities_that_every_kind_of_server_reads() -> None:
    """A list is an `or` of equalities, a list of one is one, and names are joined by `and`."""
    assert filter_expression("m", Scope({"k": ("a", "b")})) == '(m["k"] == "a" or m["k"] == "b")'
    assert filter_expression("m", Scope({"k": ("a",)})) == 'm["k"] == "a"'
    both = filter_expression("m", Scope({"k": "a"}), HintFilter("db"))
    assert both == '(m["k"] == "a" and m["category"] == "db")'


def test_no_filter_is_empty() -> None:
    """Nothing asked is the empty expression, which Milvus takes as no filter."""
    assert filter_expression("metadata", Scope()) == ""


@given(st.integers(1, 700))
def test_long_lists_are_not_nested_deeply(count: int) -> None:
    """A list of any length is a tree of logarithmic depth: servers limit the depth of a filter."""
    expression = filter_expression("m", Scope({"t": tuple(f"t{n}" for n in range(count))}))
    depth = deepest = 0
    for char in expression:
        depth += (char == "(") - (char == ")")
        deepest = max(deepest, depth)
    assert depth == 0
    assert deepest <= count.bit_length()
    assert expression.count("==") == count
