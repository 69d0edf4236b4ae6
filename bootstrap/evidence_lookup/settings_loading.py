"""Settings from a TOML file and the environment; every fault is reported at once."""

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from attrs import Attribute, fields, frozen, has

from evidence_lookup.domain.errors import SettingsError
from evidence_lookup.settings import Settings

FILE_NAME = "evidence-lookup.toml"
PREFIX = "EVIDENCE_LOOKUP_"
FILE_VARIABLE = f"{PREFIX}CONFIG"


@frozen
class _Key:
    """One setting: its dotted name, its place in `Settings`, its type and validator."""

    name: str
    path: tuple[str, ...]
    type: Any
    attribute: "Attribute[Any]"

    @property
    def variable(self) -> str:
        return PREFIX + "_".join(self.path).upper()


@frozen
class _Given:
    """A value that was given, and where."""

    value: object
    place: str
    from_text: bool = False


def load_settings(
    file: Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Settings:
    """The settings of *folder*, by default the current one.

    They come from *file*, else the file that ``EVIDENCE_LOOKUP_CONFIG`` names, else
    ``evidence-lookup.toml`` in the folder if it is there; variables ``EVIDENCE_LOOKUP_…`` win over
    the file, and *overrides* (dotted names) over both. A relative `data_dir` is below the folder.

    Raises:
        SettingsError: the file cannot be read, a key is unknown, or a value does not fit; every
            fault names its place.
    """
    environment = os.environ if environment is None else environment
    folder = folder or Path.cwd()
    keys = {key.name: key for key in _keys(Settings)}
    faults: list[str] = []
    given = dict(_from_file(_file(file, environment, folder), keys, faults))
    given |= dict(_from_environment(environment, keys, faults))
    given |= {name: _Given(value, f"option {name}") for name, value in (overrides or {}).items()}
    values: dict[tuple[str, ...], object] = {}
    for name, one in given.items():
        key = keys[name]
        try:
            value = _structure(one.value, key.type, from_text=one.from_text)
            if key.attribute.validator is not None:
                key.attribute.validator(None, key.attribute, value)
            values[key.path] = value
        except (TypeError, ValueError) as error:
            faults.append(f"{one.place}: {name}: {error.args[0] if error.args else error}")
    if faults:
        raise SettingsError(faults)
    settings = cast("Settings", _build(Settings, values, ()))
    return _below(folder, settings)


def flatten(settings: Settings) -> dict[str, object]:
    """Every setting by its dotted name; secrets are shown as ``***``."""
    flat: dict[str, object] = {}
    for key in _keys(Settings):
        value: Any = settings
        for part in key.path:
            value = getattr(value, part)
        flat[key.name] = "***" if value and not key.attribute.repr else value
    return flat


def _keys(cls: type, above: tuple[str, ...] = ()) -> Iterator[_Key]:
    hints = get_type_hints(cls)
    for attribute in fields(cls):
        path = (*above, attribute.name)
        kind = hints[attribute.name]
        if isinstance(kind, type) and has(kind):
            yield from _keys(kind, path)
        else:
            yield _Key(".".join(path).replace("_", "-"), path, kind, attribute)


def _file(file: Path | None, environment: Mapping[str, str], folder: Path) -> Path | None:
    if file is not None:
        return file
    if named := environment.get(FILE_VARIABLE):
        return folder / named
    return folder / FILE_NAME if (folder / FILE_NAME).exists() else None


def _from_file(
    file: Path | None, keys: Mapping[str, _Key], faults: list[str]
) -> Iterator[tuple[str, _Given]]:
    if file is None:
        return
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        faults.append(f"{file}: cannot be read: {error.strerror}")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        faults.append(f"{file}: is not TOML: {error}")
    else:
        yield from _from_table(table, str(file), "", keys, faults)


def _from_table(
    table: Mapping[str, object], place: str, above: str, keys: Mapping[str, _Key], faults: list[str]
) -> Iterator[tuple[str, _Given]]:
    sections = {name.rpartition(".")[0] for name in keys}
    for part, value in table.items():
        name = f"{above}{part}"
        if isinstance(value, dict) and name in sections:
            inner = cast("dict[str, object]", value)
            yield from _from_table(inner, place, f"{name}.", keys, faults)
        elif name in keys:
            yield name, _Given(value, place)
        else:
            faults.append(f"{place}: {name}: unknown key{_nearest(name, [*keys, *sections])}")


def _from_environment(
    environment: Mapping[str, str], keys: Mapping[str, _Key], faults: list[str]
) -> Iterator[tuple[str, _Given]]:
    variables = {key.variable: key.name for key in keys.values()}
    for variable, text in environment.items():
        if not variable.startswith(PREFIX) or variable == FILE_VARIABLE:
            continue
        if variable.startswith(f"{PREFIX}TEST_"):
            continue
        if variable in variables:
            yield variables[variable], _Given(text, variable, from_text=True)
        else:
            faults.append(f"{variable}: unknown variable{_nearest(variable, list(variables))}")


def _nearest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else ""


def _structure(value: object, kind: Any, *, from_text: bool) -> object:
    """*value* as *kind*; a text from the environment is read as the kind it must be."""
    if get_origin(kind) in (Union, UnionType):
        if from_text and value == "":
            return None
        (kind,) = (one for one in get_args(kind) if one is not NoneType)
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError(f"must be one of {', '.join(get_args(kind))}, not {value!r}")
        return value
    if get_origin(kind) is tuple:
        return _texts(value, from_text=from_text)
    if kind is bool:
        return _boolean(value, from_text=from_text)
    if kind in (int, float):
        return _number(value, kind, from_text=from_text)
    if not isinstance(value, str) and not (kind is Path and isinstance(value, Path)):
        raise TypeError(f"must be text, not {value!r}")
    try:
        return kind(value)
    except ValueError as error:
        choices = ", ".join(str(one) for one in kind)
        raise ValueError(f"must be one of {choices}, not {value!r}") from error


def _texts(value: object, *, from_text: bool) -> tuple[str, ...]:
    if from_text:
        return tuple(part.strip() for part in str(value).split(",") if part.strip())
    if not isinstance(value, list | tuple):
        raise TypeError(f"must be a list of texts, not {value!r}")
    items = cast("list[object]", list(value))
    if not all(isinstance(item, str) for item in items):
        raise TypeError(f"must be a list of texts, not {value!r}")
    return tuple(cast("list[str]", items))


def _boolean(value: object, *, from_text: bool) -> bool:
    if from_text:
        value = {"true": True, "1": True, "false": False, "0": False}.get(str(value).lower(), value)
    if not isinstance(value, bool):
        raise TypeError(f"must be true or false, not {value!r}")
    return value


def _number(value: object, kind: type[int] | type[float], *, from_text: bool) -> int | float:
    words = "a whole number" if kind is int else "a number"
    if from_text:
        try:
            return kind(str(value))
        except ValueError as error:
            raise ValueError(f"must be {words}, not {value!r}") from error
    if isinstance(value, bool) or not isinstance(value, int if kind is int else int | float):
        raise TypeError(f"must be {words}, not {value!r}")
    return kind(value)


def _build(cls: type, values: Mapping[tuple[str, ...], object], above: tuple[str, ...]) -> object:
    hints = get_type_hints(cls)
    arguments: dict[str, object] = {}
    for attribute in fields(cls):
        path = (*above, attribute.name)
        if path in values:
            arguments[attribute.name] = values[path]
        elif isinstance(hints[attribute.name], type) and has(hints[attribute.name]):
            arguments[attribute.name] = _build(hints[attribute.name], values, path)
    return cls(**arguments)


def _below(folder: Path, settings: Settings) -> Settings:
    from attrs import evolve

    return evolve(settings, data_dir=folder / settings.data_dir)
