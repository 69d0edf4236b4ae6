"""Filters as Milvus expressions: the one place where values become expression text.

Only what every Milvus parses: equality, ``and``, ``or``, raw UTF-8 in double quotes. Lists become
an ``or`` of equalities, since ``in`` on JSON is not known everywhere.
"""

import json
import re
from collections.abc import Sequence

from evidence_lookup.domain.errors import ScopeError
from evidence_lookup.domain.filters import HintFilter, Scope
from evidence_lookup.domain.text import has_controls

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
# Milvus reads a minus sign apart from its number, so that the least of 64 bits is too long.
_INT64 = range(1 - 2**63, 2**63)


def filter_expression(field: str, scope: Scope, hint: HintFilter | None = None) -> str:
    """Both filters over the JSON field *field*; empty where nothing is asked.

    Raises:
        ScopeError: a name or a value cannot stand in an expression.
    """
    conditions = [
        _any_of(field, name, value if isinstance(value, tuple) else (value,))
        for name, value in scope.values.items()
    ]
    if hint is not None:
        conditions.append(_any_of(field, "category", (hint.category,)))
    return joined("and", conditions)


def document_expression(field: str, doc_ids: Sequence[str]) -> str:
    """The rows of *doc_ids*, at least one.

    Raises:
        ScopeError: an id cannot stand in an expression.
    """
    return _any_of(field, "doc_id", doc_ids)


def id_expression(field: str, ids: Sequence[str]) -> str:
    """The rows whose primary key is one of *ids*, at least one."""
    return f"{field} in [{', '.join(literal(one) for one in ids)}]"


def literal(value: str | int | bool) -> str:
    """*value* so that it is only ever a value, of its own type.

    Raises:
        ScopeError: it is text that no Milvus literal can hold, or a number beyond 2**63 - 1.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if value not in _INT64:
            raise ScopeError(f"the number {value} is beyond {_INT64.stop - 1}")
        return str(int(value))
    if has_controls(value):
        raise ScopeError(f"the value {value!r} holds a control character or lone surrogate")
    return json.dumps(str(value), ensure_ascii=False)


def _any_of(field: str, name: str, values: Sequence[str | int | bool]) -> str:
    if not _NAME.fullmatch(name):
        raise ScopeError(f"the name {name!r} cannot stand in a filter")
    return equals_any(f'{field}["{name}"]', values)


def equals_any(place: str, values: Sequence[str | int | bool]) -> str:
    """The rows that hold one of *values*, at least one, at *place*, which is no user's text.

    Raises:
        ScopeError: a value cannot stand in an expression.
    """
    return joined("or", [f"{place} == {literal(value)}" for value in values])


def joined(word: str, terms: Sequence[str]) -> str:
    """*terms* in a balanced tree: a plain chain of 60 is nested too deep for milvus-lite."""
    if len(terms) < 2:
        return "".join(terms)
    half = len(terms) // 2
    return f"({joined(word, terms[:half])} {word} {joined(word, terms[half:])})"
