"""The tables, and how older files are brought up to date."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from evidence_lookup.domain.errors import BackendFailedError

Migration: TypeAlias = Sequence[str]
"""Statements that take a file from one version to the next."""

APPLICATION_ID = int.from_bytes(b"EvLk")
"""Marks a file as ours in its header, so that no other product's file is written into."""

MIGRATIONS: tuple[Migration, ...] = (
    (
        f"PRAGMA application_id = {APPLICATION_ID}",
        """
        CREATE TABLE tool_invocation (
            id TEXT PRIMARY KEY,
            tool_name TEXT NOT NULL,
            session_id TEXT,
            query TEXT NOT NULL,
            evidence_status TEXT NOT NULL,
            retrieval_layer TEXT,
            candidate_count INTEGER NOT NULL,
            block_count INTEGER NOT NULL,
            duration_seconds REAL,
            timings TEXT NOT NULL,
            created_at TEXT NOT NULL,
            retrieval_details TEXT NOT NULL,
            schema_version INTEGER NOT NULL
        )
        """,
        "CREATE INDEX tool_invocation_created_at ON tool_invocation (created_at, id)",
        """
        CREATE INDEX tool_invocation_session_id
        ON tool_invocation (session_id, created_at, id)
        """,
        """
        CREATE TABLE document (
            doc_id TEXT PRIMARY KEY,
            source TEXT NOT NULL,
            root TEXT NOT NULL,
            title TEXT NOT NULL,
            category TEXT,
            keywords TEXT NOT NULL,
            entities TEXT NOT NULL,
            headings TEXT NOT NULL,
            language TEXT,
            scope TEXT NOT NULL,
            content_hash TEXT NOT NULL,
            recipe TEXT NOT NULL,
            chunk_count INTEGER NOT NULL
        )
        """,
        # One row. A new random text with every change differs across re-created files too.
        "CREATE TABLE document_revision (revision TEXT NOT NULL)",
        "INSERT INTO document_revision VALUES (lower(hex(randomblob(16))))",
    ),
)
"""Migration n, counted from 1, makes version n; one that was released is never changed."""


def version_of(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS
) -> int:
    """The version of the file, 0 for an empty one; reads only.

    Raises:
        BackendFailedError: the file is another product's, or of a version not known here.
    """
    # One transaction: another process may be making the tables.
    connection.execute("BEGIN")
    try:
        return _checked_version(connection, path, migrations)
    finally:
        _undo(connection)


def migrate(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """Bring the file to the last version; of several processes one does it, the others wait.

    Raises:
        BackendFailedError: as for `version_of`.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _checked_version(connection, path, migrations)
        for migration in migrations[version:]:
            for statement in migration:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
        connection.execute("COMMIT")
    finally:
        _undo(connection)


def _checked_version(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration]
) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id != APPLICATION_ID:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application_id or version or tables:
            raise BackendFailedError(
                f"{path} is a database of another product: set data-dir to another folder"
            )
    if version > len(migrations):
        raise BackendFailedError(
            f"{path} has schema version {version}, but this release knows versions up to "
            f"{len(migrations)} only: use the release that wrote it, or set data-dir"
        )
    return int(version)


def _undo(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
