"""Two kinds of filter: a `Scope` that nothing may drop, a `HintFilter` that a retry drops (R26)."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from attrs import field, frozen

from evidence_lookup.domain.errors import ScopeError
from evidence_lookup.domain.text import has_controls

ScopeValue: TypeAlias = str | int | bool | tuple[str | int | bool, ...]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


def _values(given: Mapping[str, ScopeValue | Sequence[str | int | bool]]) -> dict[str, ScopeValue]:
    values: dict[str, ScopeValue] = {}
    for name, value in given.items():
        if not _NAME.fullmatch(name):
            raise ScopeError(
                f"scope name {name!r} is not allowed: use a letter or _, then up to 63 letters, "
                "digits, _, . or -"
            )
        values[name] = _value(name, value)
    return dict(sorted(values.items()))


def _value(name: str, value: object) -> ScopeValue:
    if not _is_list(value):
        return _choice(name, value)
    choices = tuple(_choice(name, choice) for choice in cast("Sequence[object]", value))
    if not choices:
        raise ScopeError(f"scope value {name!r} is an empty list, which would match nothing")
    return choices


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def _choice(name: str, value: object) -> str | int | bool:
    if not isinstance(value, str | int):
        raise ScopeError(f"scope value {name!r} must be text, a whole number, a boolean or a list")
    if isinstance(value, str):
        if not value.strip():
            raise ScopeError(f"scope value {name!r} is blank")
        if has_controls(value):
            raise ScopeError(f"scope value {name!r} holds a control character or lone surrogate")
    return value


@frozen
class Scope:
    """What the host allows this caller to see; on every attempt, and never dropped.

    A hit is in scope if for every name its metadata holds the value, or one of the values of a
    list. Text, whole numbers and booleans are compared by type: ``3`` is not ``"3"``. Values are
    kept in the order of their names.

    Raises:
        ScopeError: a name or a value is malformed.
    """

    values: Mapping[str, ScopeValue] = field(factory=dict[str, ScopeValue], converter=_values)

    def __bool__(self) -> bool:
        return bool(self.values)

    def narrowed(self, **more: ScopeValue) -> "Scope":
        """This scope with further conditions.

        Raises:
            ScopeError: a name is set already, to another value.
        """
        added = Scope(more).values
        for name in self.values.keys() & added.keys():
            if _typed(self.values[name]) != _typed(added[name]):
                raise ScopeError(f"scope value {name!r} is set already, to another value")
        return Scope({**self.values, **added})

    def require(self, names: Sequence[str]) -> None:
        """Fail closed where a required value is missing.

        Raises:
            ScopeError: a name of *names* has no value.
        """
        missing = [name for name in names if name not in self.values]
        if missing:
            raise ScopeError(
                f"the settings require the scope value {', '.join(map(repr, missing))} "
                "(scope.required); nothing was searched"
            )

    def allows(self, metadata: Mapping[str, object]) -> bool:
        """Whether a hit with this metadata is in scope."""
        return all(_equals(metadata.get(name), value) for name, value in self.values.items())


def _equals(found: object, wanted: ScopeValue) -> bool:
    return (type(found), found) in _typed(wanted)


def _typed(value: ScopeValue) -> list[tuple[type, object]]:
    """The choices of *value* with their types, since ``True == 1`` in Python."""
    choices = value if isinstance(value, tuple) else (value,)
    return [(type(choice), choice) for choice in choices]


@frozen
class HintFilter:
    """The category that the query's hints point to; a retry may drop it."""

    category: str


def is_allowed(metadata: Mapping[str, object], scope: Scope, hint: HintFilter | None) -> bool:
    """Whether a hit with this metadata passes both filters."""
    return scope.allows(metadata) and (hint is None or metadata.get("category") == hint.category)
