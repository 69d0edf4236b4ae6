"""Statements with the names of our tables, which stand in a schema that the settings name."""

from functools import lru_cache
from typing import LiteralString

from evidence_lookup.adapters.postgres.schema import TABLES


@lru_cache(maxsize=256)
def statement(schema: str, template: LiteralString) -> bytes:
    """*template* with *schema* for ``{schema}``, and our tables in it for ``{document}`` etc."""
    from psycopg import sql

    names = {name: sql.Identifier(schema, name) for name in TABLES}
    return sql.SQL(template).format(schema=sql.Identifier(schema), **names).as_bytes(None)
