"""The host's scope and the hints' filter (R26)."""

from typing import Any

import pytest

from evidence_lookup.domain.errors import ScopeError
from evidence_lookup.domain.filters import HintFilter, Scope, is_allowed


def scope(**values: Any) -> Scope:
    """A scope of *values*, whatever their types."""
    return Scope(values)


def test_R26_a_hit_is_in_scope_only_with_every_value() -> None:
    """All names must match; a missing or another value is out."""
    allowed = scope(tenant="acme", level=3)
    assert allowed.allows({"tenant": "acme", "level": 3, "more": 1})
    assert not allowed.allows({"tenant": "acme", "level": 4})
    assert not allowed.allows({"tenant": "evil", "level": 3})
    assert not allowed.allows({"tenant": "acme"})
    assert not allowed.allows({})


def test_R26_an_empty_scope_allows_everything_and_is_false() -> None:
    """Without conditions nothing is filtered."""
    assert Scope().allows({})
    assert not Scope()
    assert scope(tenant="acme")


def test_R26_one_value_of_a_list_is_enough() -> None:
    """A list allows any of its values and nothing else, a list of one too."""
    assert scope(team=["a", "b"]).allows({"team": "b"})
    assert not scope(team=["a", "b"]).allows({"team": "c"})
    assert scope(team=["a"]).allows({"team": "a"})
    assert not scope(team=["a", "b"]).allows({"team": ["a", "b"]})


@pytest.mark.parametrize(
    ("wanted", "stored"),
    [(3, "3"), ("3", 3), (1, True), (True, 1), (0, False), (3, 3.0), ("a", "A"), ("a", "a "),
     ("a", None), ("a", ["a"])],
)  # fmt: skip
def test_R26_values_are_compared_by_type(wanted: object, stored: object) -> None:
    """A value that merely looks or counts alike is another value."""
    assert not scope(name=wanted).allows({"name": stored})


@pytest.mark.parametrize("value", ['x" or tenant != "', '") or true or ("', "evil.pdf' or '1'=='1"])
def test_R26_a_value_that_looks_like_an_expression_is_only_a_value(value: str) -> None:
    """A hostile value matches itself and nothing else."""
    assert scope(tenant=value).allows({"tenant": value})
    assert not scope(tenant=value).allows({"tenant": "x"})


@pytest.mark.parametrize(
    "name",
    ["", " ", "1a", "-a", "a b", 'tenant"] != "" or metadata["x', "a]", "中文", "a\n", "a" * 65],
)
def test_R26_a_malformed_name_is_refused(name: str) -> None:
    """Names are letters, digits and _ . -, so that no key can break out of an expression."""
    with pytest.raises(ScopeError, match="is not allowed"):
        Scope({name: "x"})


@pytest.mark.parametrize("name", ["tenant", "_a", "a.b-c_1", "a" * 64])
def test_R26_a_well_formed_name_is_taken(name: str) -> None:
    """Up to 64 characters may be used."""
    assert Scope({name: "x"}).allows({name: "x"})


@pytest.mark.parametrize(
    "value",
    [None, 1.5, b"acme", bytearray(b"a"), {"a": 1}, {"a"}, object(), [None], [1.5], [["a"]],
     ["a", b"b"]],
)  # fmt: skip
def test_R26_a_value_of_another_type_is_refused(value: object) -> None:
    """What is neither text, whole number, boolean nor a list of them is a ScopeError."""
    with pytest.raises(ScopeError, match="must be text, a whole number, a boolean or a list"):
        scope(tenant=value)


@pytest.mark.parametrize("value", ["", "  ", "a\x00", "a\u0001", "\ud800", [], (), ["a", " "]])
def test_R26_a_value_that_cannot_be_meant_is_refused(value: object) -> None:
    """Blank text, control characters, lone surrogates and empty lists are faults, not filters."""
    with pytest.raises(ScopeError, match="'tenant'"):
        scope(tenant=value)


def test_R26_required_names_fail_closed() -> None:
    """A scope without a required value is refused, and the missing names are told."""
    scope(tenant="acme").require(["tenant"])
    with pytest.raises(ScopeError, match="'tenant', 'team'"):
        scope(level=1).require(["tenant", "level", "team"])


def test_R26_narrowing_adds_and_never_replaces() -> None:
    """A further condition is added; the same value again is fine, another one is refused."""
    host = scope(tenant="acme", teams=["a", "b"])
    narrow = host.narrowed(category="db")
    assert dict(narrow.values) == {"category": "db", "tenant": "acme", "teams": ("a", "b")}
    assert dict(host.values) == {"tenant": "acme", "teams": ("a", "b")}
    assert host.narrowed(tenant="acme", teams=("a", "b")) == host
    with pytest.raises(ScopeError, match="'tenant' is set already"):
        host.narrowed(tenant="evil")
    with pytest.raises(ScopeError, match="'teams' is set already"):
        host.narrowed(teams=("a", "b", "c"))


@pytest.mark.parametrize(("held", "other"), [(True, 1), (1, True), (0, False), ((1,), (True,))])
def test_R26_narrowing_tells_a_number_from_a_boolean(held: Any, other: Any) -> None:
    """True and 1 are two values, though Python calls them equal."""
    with pytest.raises(ScopeError, match="is set already"):
        scope(flag=held).narrowed(flag=other)


def test_R26_a_scope_is_ordered_by_name_and_keeps_a_copy() -> None:
    """The same conditions are one scope in any order, and the caller's later changes are not in."""
    values: dict[str, Any] = {"b": 1, "a": ["x"]}
    made = Scope(values)
    values["b"] = 2
    assert list(made.values.items()) == [("a", ("x",)), ("b", 1)]
    assert made == Scope({"a": ("x",), "b": 1})


def test_R26_the_hints_filter_is_another_type_than_the_scope() -> None:
    """What a retry may drop cannot be mistaken for what it may not."""
    assert HintFilter("db").category == "db"
    assert not isinstance(HintFilter("db"), Scope)


def test_R26_a_hit_passes_both_filters() -> None:
    """A hit is allowed in its scope and in the very category, of the same type, that is hinted."""
    ops = {"tenant": "acme", "category": "ops"}
    assert is_allowed(ops, scope(tenant="acme"), HintFilter("ops"))
    assert is_allowed(ops, scope(tenant="acme"), None)
    assert not is_allowed(ops, scope(tenant="evil"), HintFilter("ops"))
    for other in ("OPS", "ops ", None, ["ops"]):
        assert not is_allowed({**ops, "category": other}, Scope(), HintFilter("ops"))
