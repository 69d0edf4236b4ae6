"""``evidence-lookup migrate``."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.end_to_end.command import run
from tests.postgres_schema import fresh_schema
from tests.servers import Server

from evidence_lookup.adapters.postgres import PostgresSettings
from evidence_lookup.adapters.postgres.schema import MIGRATIONS

_LATEST = len(MIGRATIONS)


@pytest.fixture
def postgres(postgres_server: Server) -> Iterator[PostgresSettings]:
    """A schema that is not there yet."""
    with fresh_schema(postgres_server) as postgres:
        yield postgres


def _configure(folder: Path, url: str, schema: str, *, traces: str = "postgres") -> None:
    Path(folder, "evidence-lookup.toml").write_text(
        f'[trace]\nstore = "{traces}"\n[postgres]\nurl = "{url}"\nschema = "{schema}"\n'
        "connect-timeout-seconds = 20\n"
    )


def test_migrate_says_from_where_to_where(postgres: PostgresSettings, tmp_path: Path) -> None:
    """The first run makes the tables, the next finds nothing to do; as JSON it says the same."""
    _configure(tmp_path, postgres.url, postgres.schema)
    name = postgres.schema
    assert run("migrate", folder=tmp_path).stdout == f"schema {name}: version 0 → {_LATEST}\n"
    again = run("migrate", folder=tmp_path).stdout
    assert again == f"schema {name} has version {_LATEST} already\n"
    assert json.loads(run("migrate", "--json", folder=tmp_path).stdout) == {
        "schema": name,
        "before": _LATEST,
        "after": _LATEST,
    }


def test_migrate_without_a_server_is_unavailable(tmp_path: Path) -> None:
    """It ends with 3 and one line that names the setting, and not the password."""
    _configure(tmp_path, "postgresql://user:kept-secret@127.0.0.1:9/database", "tables")
    said = run("migrate", folder=tmp_path, code=3).stderr
    assert "postgres.url" in said
    assert "kept-secret" not in said
    assert said.count("\n") == 1


def test_migrate_has_nothing_to_do_for_sqlite(tmp_path: Path) -> None:
    """Where no store is in PostgreSQL it says so, and asks nobody."""
    _configure(tmp_path, "", "tables", traces="sqlite")
    assert "nothing to migrate" in run("migrate", folder=tmp_path).stdout
    assert run("migrate", "--json", folder=tmp_path).stdout == "null\n"


def test_migrate_needs_an_address(tmp_path: Path) -> None:
    """Without a url it ends with 2 and names the setting."""
    _configure(tmp_path, "", "tables")
    assert "postgres.url is not set" in run("migrate", folder=tmp_path, code=2).stderr
