"""The tables, version by version."""

from collections.abc import Sequence
from typing import LiteralString, TypeAlias

Migration: TypeAlias = Sequence[LiteralString]
"""Statements that take a schema from one version to the next."""

TABLES = ("schema_version", "tool_invocation", "document", "document_revision")
"""What stands for itself, in the schema of the settings, in every statement."""

VERSIONS = """
    CREATE TABLE IF NOT EXISTS {schema_version} (
        version bigint PRIMARY KEY,
        migrated_at timestamptz NOT NULL DEFAULT now()
    )
"""
"""One row for each migration that was run."""

MIGRATIONS: tuple[Migration, ...] = (
    (
        # Texts compare by their characters, as Python's do.
        """
        CREATE TABLE {tool_invocation} (
            id text COLLATE "C" PRIMARY KEY,
            tool_name text NOT NULL,
            session_id text COLLATE "C",
            query text NOT NULL,
            evidence_status text COLLATE "C" NOT NULL,
            retrieval_layer text,
            candidate_count bigint NOT NULL,
            block_count bigint NOT NULL,
            duration_seconds double precision,
            timings json NOT NULL,
            created_at timestamptz NOT NULL,
            retrieval_details jsonb NOT NULL,
            schema_version bigint NOT NULL
        )
        """,
        """
        CREATE INDEX tool_invocation_created_at
        ON {tool_invocation} (created_at DESC, id DESC)
        """,
        """
        CREATE INDEX tool_invocation_session_id
        ON {tool_invocation} (session_id, created_at, id)
        """,
        """
        CREATE INDEX tool_invocation_evidence_status
        ON {tool_invocation} (evidence_status, created_at, id)
        """,
        """
        CREATE INDEX tool_invocation_evidence_blocks
        ON {tool_invocation} USING gin ((retrieval_details -> 'evidence_blocks') jsonb_path_ops)
        """,
        """
        CREATE TABLE {document} (
            doc_id text COLLATE "C" PRIMARY KEY,
            source text NOT NULL,
            root text NOT NULL,
            title text NOT NULL,
            category text,
            keywords json NOT NULL,
            entities json NOT NULL,
            headings json NOT NULL,
            language text,
            scope json NOT NULL,
            content_hash text NOT NULL,
            recipe text NOT NULL,
            chunk_count bigint NOT NULL
        )
        """,
        # One row. A new random text with every change differs across re-created tables too.
        "CREATE TABLE {document_revision} (revision text NOT NULL)",
        "INSERT INTO {document_revision} VALUES (gen_random_uuid()::text)",
    ),
)
"""Migration n, counted from 1, makes version n; one that was released is never changed."""
