"""Hypothesis strategies for any value of the domain, made from its types."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from attrs import fields, has
from hypothesis import strategies as st

T = TypeVar("T")


def joined(text: str) -> str:
    """*text* with each high surrogate before a low one made the character that both stand for."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


_ODD = '\0\x1f\x7f"\\\ud800\udcff\udfff\u2028\ufeff😀中é'
_TEXTS = st.text(st.characters() | st.sampled_from(_ODD), max_size=8).map(joined)
_ZONES = st.sampled_from((UTC, timezone(timedelta(hours=8)), timezone(-timedelta(minutes=210))))

_SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    str: _TEXTS,
    int: st.integers(-(2**63), 2**63 - 1),
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    NoneType: st.none(),
    datetime: st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=_ZONES),
}


def any_of(cls: type[T]) -> st.SearchStrategy[T]:
    """Any *cls*: an attrs class, an enum, a simple type, or a tuple, mapping or union of them."""
    made: st.SearchStrategy[T] = _strategy(cls)
    return made


def _strategy(kind: Any) -> st.SearchStrategy[Any]:
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return st.lists(_strategy(arguments[0]), max_size=2).map(tuple)
    if origin is Mapping:
        return st.dictionaries(_strategy(arguments[0]), _strategy(arguments[1]), max_size=2)
    if origin in (Union, UnionType):
        return st.one_of(*map(_strategy, arguments))
    if issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    assert has(kind), kind
    hints = get_type_hints(kind)
    return st.builds(
        kind, **{one.alias: _strategy(hints[one.name]) for one in fields(kind) if one.alias}
    )
