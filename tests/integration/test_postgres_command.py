"""``evidence-lookup migrate``."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.end_to_end.command import run
from tests.postgres_schema import fresh_schema
from tests.servers import Server
from typer.testing import CliRunner

from evidence_lookup.adapters.postgres import PostgresSettings
from evidence_lookup.adapters.postgres.schema import MIGRATIONS
from evidence_lookup.command.app import app

_LATEST = len(MIGRATIONS)


@pytest.fixture
def postgres(postgres_server: Server) -> Iterator[PostgresSettings]:
    """A schema that is not there yet."""
    with fresh_schema(postgres_server) as postgres:
        yield postgres


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with no settings in the environment."""
    for name in list(os.environ):
        if name.startswith("EVIDENCE_LOOKUP_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _configure(folder: Path, url: str, schema: str, *, traces: str = "postgres") -> None:
    Path(folder, "evidence-lookup.toml").write_text(
        f'[trace]\nstore = "{traces}"\n[postgres]\nurl = "{url}"\nschema = "{schema}"\n'
        "connect-timeout-seconds = 20\n"
    )


def _said(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["migrate", *arguments])
    assert done.exit_code == code, done.output
    return done.output


def test_migrate_says_from_where_to_where(postgres: PostgresSettings, folder: Path) -> None:
    """The first run makes the tables, the next finds nothing to do; as JSON it says the same."""
    _configure(folder, postgres.url, postgres.schema)
    name = postgres.schema
    assert run("migrate", folder=folder).stdout == f"schema {name}: version 0 → {_LATEST}\n"
    assert _said() == f"schema {name} has version {_LATEST} already\n"
    assert json.loads(_said("--json")) == {"schema": name, "before": _LATEST, "after": _LATEST}


def test_migrate_without_a_server_is_unavailable(folder: Path) -> None:
    """It ends with 3 and one line that names the setting, and not the password."""
    _configure(folder, "postgresql://user:kept-secret@127.0.0.1:9/database", "tables")
    said = _said(code=3)
    assert "postgres.url" in said
    assert "kept-secret" not in said
    assert said.count("\n") == 1


def test_migrate_has_nothing_to_do_for_sqlite(folder: Path) -> None:
    """Where no store is in PostgreSQL it says so, and asks nobody."""
    _configure(folder, "", "tables", traces="sqlite")
    assert "nothing to migrate" in _said()
    assert json.loads(_said("--json")) is None


def test_migrate_needs_an_address(folder: Path) -> None:
    """Without a url it ends with 2 and names the setting."""
    _configure(folder, "", "tables")
    assert "postgres.url is not set" in _said(code=2)
