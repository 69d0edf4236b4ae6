"""The PostgreSQL adapters against the contracts of their ports."""

from collections.abc import AsyncIterator, Iterator
from typing import cast

import anyio
import pytest
from psycopg import sql
from tests.postgres_schema import fresh_schema, superuser
from tests.servers import Server

from evidence_lookup.adapters.postgres import (
    PostgresCatalogue,
    PostgresSettings,
    PostgresTraces,
    migrate,
)
from evidence_lookup.ports.catalogue import Catalogue
from evidence_lookup.testing.catalogue_contract import CatalogueContract
from evidence_lookup.testing.trace_contract import TraceContract, Traces


@pytest.fixture(scope="module")
def tables(postgres_server: Server) -> Iterator[PostgresSettings]:
    """Tables for all tests of this module, made once."""
    with fresh_schema(postgres_server, timeout_seconds=60) as postgres:
        anyio.run(migrate, postgres)
        yield postgres


@pytest.fixture
def postgres(postgres_server: Server, tables: PostgresSettings) -> PostgresSettings:
    """The tables without rows."""
    with superuser(postgres_server) as connection:
        schema = sql.Identifier(tables.schema)
        emptied = sql.SQL("TRUNCATE {0}.tool_invocation, {0}.document").format(schema)
        connection.execute(emptied)
    return tables


class TestPostgresTraces(TraceContract):
    """Records in a table."""

    @pytest.fixture
    async def traces(self, postgres: PostgresSettings) -> AsyncIterator[Traces]:
        """In a table without rows."""
        traces = PostgresTraces(postgres)
        yield traces
        await traces.aclose()

    async def release(self, traces: Traces) -> None:
        """Closing them keeps the records."""
        await cast("PostgresTraces", traces).aclose()


class TestPostgresCatalogue(CatalogueContract):
    """The catalogue in a table."""

    @pytest.fixture
    async def catalogue(self, postgres: PostgresSettings) -> AsyncIterator[Catalogue]:
        """In a table without rows."""
        catalogue = PostgresCatalogue(postgres)
        yield catalogue
        await catalogue.aclose()

    async def release(self, catalogue: Catalogue) -> None:
        """Closing it keeps the entries."""
        await cast("PostgresCatalogue", catalogue).aclose()
