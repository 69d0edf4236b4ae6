"""Schemas of their own on the PostgreSQL server that the tests share."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TypeAlias
from uuid import uuid4

import psycopg
from psycopg import sql
from tests.servers import Server

from evidence_lookup.adapters.postgres import PostgresSettings

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]


@contextmanager
def fresh_schema(server: Server, **settings: Any) -> Generator[PostgresSettings, None, None]:
    """Settings of a schema that is not there yet, and is gone afterwards."""
    postgres = PostgresSettings(server.url, schema=f"test_{uuid4().hex[:12]}", **settings)
    try:
        yield postgres
    finally:
        with superuser(server) as connection:
            name = sql.Identifier(postgres.schema)
            connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(name))


@contextmanager
def superuser(server: Server) -> Generator[Connection, None, None]:
    """A connection of the tests' own."""
    with psycopg.connect(server.url, autocommit=True, connect_timeout=10) as connection:
        yield connection
