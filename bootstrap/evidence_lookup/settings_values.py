"""One value of the settings as the type it must be, strictly: ``"20"`` is no number."""

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args, get_origin

from evidence_lookup.domain.hit import SearchMode

if TYPE_CHECKING:
    from cattrs import Converter


def from_text(text: str, kind: Any) -> object:
    """A variable's *text* as a TOML value where *kind* is no text; lists may be comma-separated.

    An empty text stands for "not set" where that is allowed.
    """
    options = get_args(kind)
    if type(None) in options and text == "":
        return None
    if _is_generic(tuple)(kind) and not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    if kind in (bool, int, float) or _is_generic(tuple)(kind) or {int, float} & set(options):
        try:
            return tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            return text
    return text


def structure(value: object, kind: Any) -> object:
    """*value* as *kind*.

    Raises:
        ValueError, TypeError: it does not fit; the message says what does.
    """
    return cast("object", _converter().structure(value, kind))


@cache
def _converter() -> "Converter":
    from cattrs import Converter

    converter = Converter(detailed_validation=False)
    for kind, words in ((bool, "true or false"), (int, "a whole number"), (str, "text")):
        converter.register_structure_hook(kind, _strict(kind, words))
    converter.register_structure_hook(float, _float)
    converter.register_structure_hook(Path, lambda value, _: Path(_text(value)))
    converter.register_structure_hook_func(_is_generic(tuple), lambda value, _: _texts(value))
    converter.register_structure_hook(
        SearchMode, lambda value, kind: kind(_choice(value, [str(mode) for mode in SearchMode]))
    )
    converter.register_structure_hook_func(
        _is_generic(Literal),
        lambda value, kind: _choice(value, list(get_args(kind))),
    )
    return converter


def _is_generic(wanted: object) -> Callable[[object], bool]:
    return lambda kind: cast("object", get_origin(kind)) is wanted


def _strict(kind: type, words: str) -> Any:
    def hook(value: object, _: object) -> object:
        if type(value) is not kind:
            raise TypeError(f"must be {words}, not {value!r}")
        return value

    return hook


def _float(value: object, _: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"must be a number, not {value!r}")
    return float(value)


def _text(value: object) -> str:
    if not isinstance(value, str | Path):
        raise TypeError(f"must be text, not {value!r}")
    return str(value)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise TypeError(f"must be a list of texts, not {value!r}")
    return tuple(map(_text, cast("list[object]", value)))


def _choice(value: object, choices: list[str]) -> str:
    if value not in choices:
        raise ValueError(f"must be one of {', '.join(choices)}, not {value!r}")
    return str(value)
