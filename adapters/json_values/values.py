"""Attrs values to plain JSON and back, under the names of their attributes."""

from typing import Any, TypeVar

from evidence_lookup.adapters.json_values.text import encode

T = TypeVar("T")


def to_json(value: Any) -> Any:
    """*value* as dicts, lists, texts, numbers, booleans and None.

    Enums become their values, times ISO 8601 in UTC with microseconds and offset (a time without
    a zone counts as UTC), paths texts, sets sorted lists. A number that is NaN or infinite becomes
    None. Texts stay as they are; `dumps` sees to lone surrogates.
    """
    # Imported at first use: cattrs takes longer to load than a short command to run.
    from evidence_lookup.adapters.json_values.converter import converter

    return converter().unstructure(value)


def from_json(cls: type[T], data: Any) -> T:
    """The *cls* that `to_json` turned into *data*; unknown keys are passed over.

    None where a number must stand is NaN.

    Raises:
        ValueError: *data* is not the JSON of a *cls*.
    """
    from evidence_lookup.adapters.json_values.converter import converter

    try:
        return converter().structure(data, cls)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"this is not the JSON of a {cls.__name__}: {type(error).__name__}: {error}"
        ) from error


def dumps(value: Any) -> str:
    """`to_json` of *value* as compact JSON text that UTF-8 can encode.

    Raises:
        TypeError: *value* holds something that JSON does not know.
    """
    return encode(to_json(value))
