"""Settings from a TOML file and the environment; every fault is reported at once."""

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast, get_type_hints

from attrs import Attribute, evolve, fields, frozen, has

from evidence_lookup.domain.errors import SettingsError
from evidence_lookup.settings import Settings
from evidence_lookup.settings_values import from_text, structure

FILE_NAME = "evidence-lookup.toml"
PREFIX = "EVIDENCE_LOOKUP_"
FILE_VARIABLE = f"{PREFIX}CONFIG"
_TEST_PREFIX = f"{PREFIX}TEST_"


@frozen
class _Key:
    """One setting: its place in `Settings`, its type, and the attribute with its validator."""

    path: tuple[str, ...]
    type: Any
    attribute: "Attribute[Any]"

    @property
    def name(self) -> str:
        return ".".join(self.path).replace("_", "-")

    @property
    def variable(self) -> str:
        return PREFIX + "_".join(self.path).upper()


@frozen
class _Given:
    """A value that was given, and where."""

    value: object
    place: str


def load_settings(
    file: Path | None = None,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
    defaults: Mapping[str, object] | None = None,
) -> Settings:
    """The settings of *folder*, by default the current one.

    They come from *file*, else the file that ``EVIDENCE_LOOKUP_CONFIG`` names, else
    ``evidence-lookup.toml`` in the folder if it is there; variables ``EVIDENCE_LOOKUP_…`` win over
    the file, and *overrides* (by dotted name) over both; *defaults* (likewise) stand where none of
    them says anything. A relative `data_dir` is below the folder.

    Raises:
        SettingsError: the file cannot be read, a key is unknown, or a value does not fit; every
            fault names its place.
    """
    environment = os.environ if environment is None else environment
    folder = folder or Path.cwd()
    keys = {key.name: key for key in _keys(Settings)}
    faults: list[str] = []
    given = {name: _Given(value, "default") for name, value in (defaults or {}).items()}
    given |= dict(_from_file(_file(file, environment, folder), keys, faults))
    given |= dict(_from_environment(environment, keys, faults))
    given |= {name: _Given(value, "command line") for name, value in (overrides or {}).items()}
    values: dict[tuple[str, ...], object] = {}
    for name, one in given.items():
        key = keys[name]
        try:
            values[key.path] = _checked(one.value, key)
        except (TypeError, ValueError) as error:
            told = error.args[0] if key.attribute.repr else "must be text (it is not shown)"
            faults.append(f"{one.place}: {name}: {told}")
    if faults:
        raise SettingsError(faults)
    places = {keys[name].path: one.place for name, one in given.items()}
    settings = cast("Settings", _build(Settings, values, places, faults))
    if faults:
        raise SettingsError(faults)
    return evolve(settings, data_dir=(folder / settings.data_dir).resolve())


def flatten(settings: Settings) -> dict[str, object]:
    """Every setting by its dotted name; a secret that is set is shown as ``***``."""
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
        kind = hints[attribute.name]
        path = (*above, attribute.name)
        if isinstance(kind, type) and has(kind):
            yield from _keys(kind, path)
        else:
            yield _Key(path, kind, attribute)


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
        if name in keys:
            yield name, _Given(value, place)
        elif isinstance(value, dict) and name in sections:
            inner = cast("dict[str, object]", value)
            yield from _from_table(inner, place, f"{name}.", keys, faults)
        else:
            faults.append(f"{place}: {name}: unknown key{_nearest(name, [*keys, *sections])}")


def _from_environment(
    environment: Mapping[str, str], keys: Mapping[str, _Key], faults: list[str]
) -> Iterator[tuple[str, _Given]]:
    variables = {key.variable: key for key in keys.values()}
    for variable, text in environment.items():
        if not variable.startswith(PREFIX) or variable == FILE_VARIABLE:
            continue
        if variable.startswith(_TEST_PREFIX):
            continue
        if key := variables.get(variable):
            yield key.name, _Given(from_text(text, key.type), variable)
        else:
            faults.append(f"{variable}: unknown variable{_nearest(variable, list(variables))}")


def _nearest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else ""


def _checked(value: object, key: _Key) -> object:
    structured = structure(value, key.type)
    if key.attribute.validator is not None:
        key.attribute.validator(None, key.attribute, structured)
    return structured


def _build(
    cls: type,
    values: Mapping[tuple[str, ...], object],
    places: Mapping[tuple[str, ...], str],
    faults: list[str],
    above: tuple[str, ...] = (),
) -> object:
    """An instance of *cls*; settings in it that do not go together are added to *faults*."""
    hints = get_type_hints(cls)
    arguments: dict[str, object] = {}
    for attribute in fields(cls):
        kind = hints[attribute.name]
        path = (*above, attribute.name)
        if isinstance(kind, type) and has(kind):
            arguments[attribute.name] = _build(kind, values, places, faults, path)
        elif path in values:
            arguments[attribute.name] = values[path]
    try:
        return cls(**arguments)
    except ValueError as error:
        inside = {place for path, place in places.items() if path[:-1] == above}
        faults.append(f"{', '.join(sorted(inside))}: {error}")
        return None
