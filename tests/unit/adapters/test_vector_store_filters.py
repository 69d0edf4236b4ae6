"""Both filters in the terms of each kind of store."""

from typing import Any

import pytest
from langchain_core.documents import Document

from evidence_lookup.adapters.vector_store.filters import FilterKind, filter_arguments
from evidence_lookup.domain.errors import ScopeError
from evidence_lookup.domain.filters import HintFilter, Scope


class Store:
    """Stands for any store; only its name is read."""


class MilvusStore:
    """What is read of a `langchain_milvus.Milvus`."""

    collection_name = "theirs"

    def __init__(self, *, metadata_field: str | None = None, dynamic: bool = False) -> None:
        self._metadata_field = metadata_field
        self.enable_dynamic_field = dynamic
        self.fields = ["pk", "text", "vector", "tenant"]


@pytest.mark.parametrize("kind", FilterKind)
def test_nothing_asked_is_no_argument(kind: FilterKind) -> None:
    """Without scope and hint every store, also one that cannot filter, is asked as it is."""
    assert filter_arguments(kind, Scope(), None, Store()) == {}


@pytest.mark.parametrize(
    ("scope", "hint", "named"),
    [
        (Scope({"tenant": "acme"}), None, "'tenant'"),
        (Scope(), HintFilter("ops"), "hint filter"),
        (Scope({"tenant": "acme"}), HintFilter("ops"), "'tenant'"),
    ],
)
def test_R26_a_store_that_cannot_filter_is_refused(
    scope: Scope, hint: HintFilter | None, named: str
) -> None:
    """It is never searched without the filter; the message names the store and the setting."""
    with pytest.raises(ScopeError, match=rf"Store cannot filter \(vector-store.filter.*{named}"):
        filter_arguments(FilterKind.NONE, scope, hint, Store())


@pytest.mark.parametrize("kind", [FilterKind.CALLABLE_DOCUMENT, FilterKind.CALLABLE_METADATA])
def test_callables_tell_types_apart(kind: FilterKind) -> None:
    """A function lets through what the scope allows, by value and type, in the hinted category."""
    scope = Scope({"tenant": ("a", "b"), "level": 3})
    allows = filter_arguments(kind, scope, HintFilter("ops"), Store())["filter"]

    def passes(**metadata: Any) -> bool:
        is_document = kind is FilterKind.CALLABLE_DOCUMENT
        one: Any = Document(page_content="", metadata=metadata) if is_document else metadata
        return bool(allows(one))

    assert passes(tenant="a", level=3, category="ops")
    assert passes(tenant="b", level=3, category="ops", more="x")
    assert not passes(tenant="c", level=3, category="ops")
    assert not passes(tenant="a", level="3", category="ops")
    assert not passes(tenant="a", level=3, category="food")
    assert not passes()


def test_equality_dictionaries() -> None:
    """All conditions stand in one dictionary; a list that it cannot say is refused."""
    kind = FilterKind.DICT_EQUALITY
    scope = Scope({"tenant": 'x" or "', "level": ("3",)})
    assert filter_arguments(kind, scope, HintFilter("ops"), Store()) == {
        "filter": {"tenant": 'x" or "', "level": "3", "category": "ops"}
    }
    with pytest.raises(ScopeError, match=r"'tenant' is a list.*Store.*dict-equality"):
        filter_arguments(kind, Scope({"tenant": ("a", "b")}), None, Store())


def test_operator_dictionaries() -> None:
    """One condition stands alone, several are joined, and lists are split by type."""
    kind = FilterKind.DICT_OPERATORS

    def made(hint: HintFilter | None = None, **values: Any) -> Any:
        return filter_arguments(kind, Scope(values), hint, Store())["filter"]

    assert made(tenant="$ne") == {"tenant": {"$eq": "$ne"}}
    assert made(tenant=("a", "b")) == {"tenant": {"$in": ["a", "b"]}}
    assert made(HintFilter("ops"), level=3) == {
        "$and": [{"level": {"$eq": 3}}, {"category": {"$eq": "ops"}}]
    }
    assert made(level=(1, "1", True)) == {
        "$or": [{"level": {"$in": [1]}}, {"level": {"$in": ["1"]}}, {"level": {"$in": [True]}}]
    }


@pytest.mark.parametrize(
    ("store", "place"),
    [
        (MilvusStore(), "tenant"),
        (MilvusStore(dynamic=True), "tenant"),
        (MilvusStore(metadata_field="meta"), 'meta["tenant"]'),
    ],
)
def test_C41_milvus_expressions_name_the_right_place(store: MilvusStore, place: str) -> None:
    """A value is looked for where LangChain keeps it, and is escaped."""
    scope = Scope({"tenant": 'a" or true or "'})
    assert filter_arguments(FilterKind.MILVUS_EXPRESSION, scope, None, store) == {
        "expr": f'{place} == "a\\" or true or \\""'
    }


def test_milvus_dynamic_and_missing_fields() -> None:
    """A name that is no field is a dynamic one where there are such, and else refused."""
    kind, scope = FilterKind.MILVUS_EXPRESSION, Scope({"team.name": ("a", "b")})
    assert filter_arguments(kind, scope, HintFilter("ops"), MilvusStore(dynamic=True)) == {
        "expr": '(($meta["team.name"] == "a" or $meta["team.name"] == "b") '
        'and $meta["category"] == "ops")'
    }
    with pytest.raises(ScopeError, match=r"'theirs' has no field 'team.name'.*pk, tenant"):
        filter_arguments(kind, scope, None, MilvusStore())
