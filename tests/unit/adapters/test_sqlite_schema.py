"""How SQLite files are brought up to date."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from evidence_lookup.adapters.sqlite.opening import open_connection
from evidence_lookup.adapters.sqlite.schema import APPLICATION_ID, MIGRATIONS, Migration, migrate
from evidence_lookup.domain.errors import BackendFailedError

_NEXT: Migration = (
    "ALTER TABLE document ADD COLUMN later TEXT NOT NULL DEFAULT 'x'",
    "UPDATE document SET later = 'y'",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database is going to be."""
    return tmp_path / "knowledge.sqlite"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a new database."""
    with closing(open_connection(path, busy_timeout_seconds=5)) as connection:
        yield connection


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def test_a_new_file_has_the_last_version_and_our_mark(connection: sqlite3.Connection) -> None:
    """All migrations run on an empty file, which then says whose it is."""
    assert _version(connection) == len(MIGRATIONS)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


def test_readers_and_a_writer_work_at_once(connection: sqlite3.Connection) -> None:
    """The file keeps a write-ahead log, synced at checkpoints."""
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (1,)


def test_an_older_file_gets_the_missing_migrations_only(
    connection: sqlite3.Connection, path: Path
) -> None:
    """A migration runs once, in its turn, and rows are kept."""
    connection.execute(
        "INSERT INTO document VALUES ('a','','','',NULL,'[]','[]','[]',NULL,'{}','','',0)"
    )
    for _ in range(2):
        migrate(connection, path, (*MIGRATIONS, _NEXT))
        assert _version(connection) == len(MIGRATIONS) + 1
        assert connection.execute("SELECT doc_id, later FROM document").fetchall() == [("a", "y")]


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    connection: sqlite3.Connection, path: Path
) -> None:
    """All of a migration is done, or nothing of it."""
    with pytest.raises(sqlite3.OperationalError, match="nonsense"):
        migrate(connection, path, (*MIGRATIONS, _NEXT, ("nonsense",)))
    assert _version(connection) == len(MIGRATIONS)
    assert "later" not in [row[1] for row in connection.execute("PRAGMA table_info(document)")]
    assert not connection.in_transaction


def test_a_newer_file_is_refused(connection: sqlite3.Connection, path: Path) -> None:
    """A release does not touch what a later one wrote, and names both versions."""
    connection.execute("PRAGMA user_version = 7")
    with pytest.raises(BackendFailedError, match=r"version 7.* up to 1 "):
        migrate(connection, path)


@pytest.mark.parametrize("round_", range(10))
def test_many_that_open_a_new_file_at_once_all_can(path: Path, round_: int) -> None:
    """One of them makes the tables, the others wait for it."""

    def opened(_: int) -> int:
        with closing(open_connection(path, busy_timeout_seconds=30)) as connection:
            return _version(connection)

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(opened, range(8))) == [len(MIGRATIONS)] * 8
