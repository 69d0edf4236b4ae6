"""The scope and the hint filter in the terms of each kind of store.

Values go to a store as values; only for Milvus they become text, escaped in one place.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeAlias

from evidence_lookup.adapters.vector_store.milvus_filter import milvus_filter
from evidence_lookup.adapters.vector_store.qdrant_filter import qdrant_filter
from evidence_lookup.domain.errors import ScopeError
from evidence_lookup.domain.filters import HintFilter, Scope, ScopeValue, is_allowed

Choice: TypeAlias = str | int | bool


class FilterKind(StrEnum):
    """How a store is told which documents count."""

    NONE = "none"
    """It cannot filter."""
    CALLABLE_DOCUMENT = "callable-document"
    """``filter=`` a function of the document that gives a boolean."""
    CALLABLE_METADATA = "callable-metadata"
    """``filter=`` a function of the document's metadata that gives a boolean."""
    DICT_EQUALITY = "dict-equality"
    """``filter={"name": value}``; all must be equal, lists of choices cannot be said."""
    DICT_OPERATORS = "dict-operators"
    """``filter={"$and": [{"name": {"$eq": value}}, {"name": {"$in": [...]}}]}``."""
    MILVUS_EXPRESSION = "milvus-expression"
    """``expr=`` an expression over the collection's fields."""
    QDRANT_FILTER = "qdrant-filter"
    """``filter=`` a ``qdrant_client.models.Filter`` over the payload."""


def filter_arguments(
    kind: FilterKind, scope: Scope, hint: HintFilter | None, store: Any
) -> dict[str, Any]:
    """The arguments that make *store* keep both filters; none where nothing is asked.

    Raises:
        ScopeError: it cannot keep them.
    """
    conditions = [(name, _choices(value)) for name, value in scope.values.items()]
    if hint is not None:
        conditions.append(("category", (hint.category,)))
    if not conditions:
        return {}

    def allows(metadata: Mapping[str, Any]) -> bool:
        return is_allowed(metadata, scope, hint)

    match kind:
        case FilterKind.NONE:
            raise _unfilterable(store, scope)
        case FilterKind.CALLABLE_DOCUMENT:
            return {"filter": _of_document(allows)}
        case FilterKind.CALLABLE_METADATA:
            return {"filter": allows}
        case FilterKind.DICT_EQUALITY:
            return {"filter": _equalities(store, conditions)}
        case FilterKind.DICT_OPERATORS:
            return {"filter": _joined("$and", [_operators(*one) for one in conditions])}
        case FilterKind.MILVUS_EXPRESSION:
            return {"expr": milvus_filter(conditions, store)}
        case FilterKind.QDRANT_FILTER:
            return {"filter": qdrant_filter(conditions, store)}


def _of_document(allows: Callable[[Mapping[str, Any]], bool]) -> Callable[[Any], bool]:
    return lambda document: allows(document.metadata)


def _choices(value: ScopeValue) -> tuple[Choice, ...]:
    return value if isinstance(value, tuple) else (value,)


def _unfilterable(store: Any, scope: Scope) -> ScopeError:
    asked = f"the scope {', '.join(map(repr, scope.values))}" if scope else "the hint filter"
    return ScopeError(
        f"{type(store).__name__} cannot filter (vector-store.filter is 'none'), so {asked} cannot "
        "be kept; nothing was searched"
    )


def _equalities(store: Any, conditions: Sequence[tuple[str, tuple[Choice, ...]]]) -> dict[str, Any]:
    equalities: dict[str, Any] = {}
    for name, choices in conditions:
        if len(choices) > 1:
            raise ScopeError(
                f"the scope value {name!r} is a list, which {type(store).__name__} cannot filter "
                "by (vector-store.filter is 'dict-equality'); nothing was searched"
            )
        equalities.update((name, choice) for choice in choices)
    return equalities


def _operators(name: str, choices: tuple[Choice, ...]) -> dict[str, Any]:
    if len(choices) == 1:
        return {name: {"$eq": choices[0]}}
    # A list of values of several types is refused by some stores.
    kinds = dict.fromkeys(type(choice) for choice in choices)
    lists = [[choice for choice in choices if type(choice) is kind] for kind in kinds]
    return _joined("$or", [{name: {"$in": one}} for one in lists])


def _joined(operator: str, terms: list[dict[str, Any]]) -> dict[str, Any]:
    return terms[0] if len(terms) == 1 else {operator: terms}
