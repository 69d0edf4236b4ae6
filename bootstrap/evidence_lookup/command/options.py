"""Options that several commands share, and how their values are read."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast

import typer

from evidence_lookup.domain.errors import ScopeError

if TYPE_CHECKING:
    from evidence_lookup.settings import Settings

DataDir: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Folder of the index and the traces. [default: .evidence-lookup]"),
]
Config: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Settings file. [default: evidence-lookup.toml, if there is one]"),
]
Debug: TypeAlias = Annotated[bool, typer.Option("--debug", help="Show the trace of an error.")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
ChunkScope: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--scope",
        metavar="KEY=VALUE",
        help="Put this on every chunk; repeatable. KEY:=JSON gives numbers and booleans.",
    ),
]
LookupScope: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--scope",
        metavar="KEY=VALUE",
        help="Only chunks with this; repeatable. KEY:=JSON gives numbers, booleans and lists.",
    ),
]
RecordedScope: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--scope",
        metavar="KEY=VALUE",
        help="A value that the recorded lookups were narrowed by, of which records hold only the "
        "name; repeatable. KEY:=JSON gives numbers, booleans and lists.",
    ),
]
Since: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Only from this time on: ISO 8601, UTC if without a zone, or a span back from now "
        "(90m, 2h, 7d, 2w).",
    ),
]
Until: TypeAlias = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only before this time, given as for --since.")
]


def settings_from(config: Path | None, data_dir: Path | None) -> "Settings":
    """The settings of the current directory with the command line's options over them."""
    from evidence_lookup.settings_loading import load_settings

    return load_settings(config, overrides={"data-dir": data_dir} if data_dir else None)


def scope_from(pairs: list[str] | None) -> dict[str, Any]:
    """``["tenant=acme", "level:=3"]`` as a mapping.

    Raises:
        ScopeError: a pair has no ``=``, its JSON is none, or its name stands twice.
    """
    scope: dict[str, Any] = {}
    for pair in pairs or []:
        name, mark, text = pair.partition("=")
        if not mark or not name:
            raise ScopeError(f"--scope {pair!r} is not KEY=VALUE")
        key = name.removesuffix(":")
        if key in scope:
            raise ScopeError(f"--scope {pair!r}: {key} is given twice")
        scope[key] = _json(text, pair) if name.endswith(":") else text
    return scope


def _json(text: str, pair: str) -> object:
    try:
        return cast("object", json.loads(text))
    except json.JSONDecodeError as error:
        raise ScopeError(f"--scope {pair!r}: what follows := is no JSON: {error.msg}") from error
