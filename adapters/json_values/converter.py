"""The one cattrs converter, with its rules."""

import math
from collections.abc import Iterable, Set
from datetime import UTC, datetime
from enum import Enum, IntEnum, StrEnum
from functools import cache
from pathlib import PurePath
from typing import Any

from cattrs import Converter
from cattrs.strategies import configure_union_passthrough


@cache
def converter() -> Converter:
    """The converter; what it learns of a class is kept for the next value."""
    # Validation in detail would cost half of the speed, for messages that nobody reads here.
    made = Converter(
        detailed_validation=False,
        unstruct_collection_overrides={tuple: list, Set: _in_order},
    )
    # A StrEnum is a str too, which cattrs would leave as it is.
    for kind in (StrEnum, IntEnum, Enum):
        made.register_unstructure_hook(kind, _member)
    made.register_unstructure_hook(float, _number)
    made.register_structure_hook(
        float, lambda value, _: math.nan if value is None else float(value)
    )
    made.register_unstructure_hook(datetime, _moment)
    made.register_structure_hook(datetime, lambda text, _: datetime.fromisoformat(text))
    made.register_unstructure_hook(PurePath, str)
    configure_union_passthrough(str | int | bool, made)
    return made


def _member(member: Enum) -> Any:
    return member.value


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _moment(value: datetime) -> str:
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="microseconds")


def _in_order(values: Iterable[Any]) -> list[Any]:
    items = list(values)
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=str)
