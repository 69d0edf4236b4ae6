"""How the tables come to be, and what is said of others."""

import subprocess
import sys
from collections.abc import Iterator
from typing import LiteralString

import anyio
import pytest
from attrs import evolve
from psycopg import sql
from psycopg.conninfo import make_conninfo
from tests.postgres_schema import fresh_schema, superuser
from tests.servers import Server

from evidence_lookup.adapters.postgres import (
    MigrationStatus,
    PostgresCatalogue,
    PostgresSettings,
    PostgresTraces,
    migrate,
    migration_status,
)
from evidence_lookup.adapters.postgres.schema import MIGRATIONS, Migration
from evidence_lookup.domain.errors import BackendFailedError, CollectionMissingError
from evidence_lookup.testing.samples import invocation

_LATEST = len(MIGRATIONS)
_NEXT: Migration = ("ALTER TABLE {document} ADD COLUMN later text NOT NULL DEFAULT 'x'",)
_BROKEN: Migration = ("CREATE TABLE {schema}.half (id text)", "SELECT 1 / 0")
_PROCESS = """
import sys
import anyio
from evidence_lookup.adapters.postgres import PostgresSettings, migrate
print(anyio.run(migrate, PostgresSettings(sys.argv[1], schema=sys.argv[2])).before)
"""


@pytest.fixture
def postgres(postgres_server: Server) -> Iterator[PostgresSettings]:
    """A schema that is not there yet."""
    with fresh_schema(postgres_server) as postgres:
        yield postgres


async def test_a_new_schema_gets_every_version_once(postgres: PostgresSettings) -> None:
    """It says from where to where; run again, there is nothing to do."""
    new = MigrationStatus(postgres.schema, 0, _LATEST)
    assert await migration_status(postgres) == new
    assert await migrate(postgres) == new
    for again in (await migrate(postgres), await migration_status(postgres)):
        assert again == MigrationStatus(postgres.schema, _LATEST, _LATEST)
        assert again.is_current


async def test_an_older_schema_gets_the_missing_versions_only(postgres: PostgresSettings) -> None:
    """Rows are kept, and the next migration runs in its turn."""
    await migrate(postgres)
    traces = PostgresTraces(postgres)
    await traces.record([invocation()])
    status = await migrate(postgres, (*MIGRATIONS, _NEXT))
    assert (status.before, status.after) == (_LATEST, _LATEST + 1)
    # Opened before, it goes on.
    assert await traces.get("0195-a") == invocation()
    await traces.aclose()


async def test_a_migration_that_fails_leaves_nothing(postgres: PostgresSettings) -> None:
    """All of it is undone, and the right one can be run after."""
    with pytest.raises(BackendFailedError, match="division by zero"):
        await migrate(postgres, (*MIGRATIONS, _BROKEN))
    assert await migration_status(postgres) == MigrationStatus(postgres.schema, 0, _LATEST)
    assert (await migrate(postgres)).before == 0


async def test_a_later_version_is_refused_by_all(postgres: PostgresSettings) -> None:
    """Reading, writing, migrating and asking say which release is needed, and change nothing."""
    await migrate(postgres, (*MIGRATIONS, _NEXT))
    traces, catalogue = PostgresTraces(postgres), PostgresCatalogue(postgres)
    for call in (
        traces.recent(limit=1),
        traces.record([invocation()]),
        catalogue.revision(),
        migrate(postgres),
        migration_status(postgres),
    ):
        with pytest.raises(BackendFailedError, match="use the release that migrated"):
            await call
    await traces.aclose()
    await catalogue.aclose()


async def test_before_the_migration_all_say_what_to_run(
    postgres: PostgresSettings, postgres_server: Server
) -> None:
    """Without tables, with older ones, and where they were dropped; then they work at once."""
    traces, catalogue = PostgresTraces(postgres), PostgresCatalogue(postgres)

    async def all_say() -> None:
        for call in (traces.recent(limit=1), traces.record([invocation()]), catalogue.entries()):
            with pytest.raises(CollectionMissingError, match="run `evidence-lookup migrate`"):
                await call

    schema = sql.Identifier(postgres.schema)
    with superuser(postgres_server) as connection:
        await all_say()
        await migrate(postgres)
        assert await traces.recent(limit=1) == ()
        connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(schema))
        await all_say()
        await migrate(postgres)
        assert await catalogue.entries() == ()
        await traces.aclose()
        await catalogue.aclose()
        connection.execute(sql.SQL("DELETE FROM {}.schema_version").format(schema))
        await all_say()
    await traces.aclose()
    await catalogue.aclose()


async def test_a_database_that_cannot_hold_every_text_is_refused(
    postgres: PostgresSettings, postgres_server: Server
) -> None:
    """Another encoding than UTF-8 is told before any table is made."""
    name = f"{postgres.schema}_latin"
    theirs = evolve(postgres, url=make_conninfo(postgres.url, dbname=name))
    database = sql.Identifier(name)
    made = "CREATE DATABASE {} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
    with superuser(postgres_server) as connection:
        connection.execute(sql.SQL(made).format(database))
        try:
            with pytest.raises(BackendFailedError, match="encoding LATIN1"):
                await migrate(theirs)
            assert (await migration_status(theirs)).before == 0
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(database))


async def test_many_migrate_a_new_schema_at_once(postgres: PostgresSettings) -> None:
    """Of tasks and processes on one new schema one makes the tables, and none fails."""
    found: list[int] = []

    async def task() -> None:
        found.append((await migrate(postgres)).before)

    async def process() -> None:
        command = [sys.executable, "-c", _PROCESS, postgres.url, postgres.schema]
        done = await anyio.run_process(command, stderr=subprocess.STDOUT)
        found.append(int(done.stdout))

    async with anyio.create_task_group() as tasks:
        for number in range(10):
            tasks.start_soon(task if number < 8 else process)
    assert sorted(found) == [0] + [_LATEST] * 9


async def test_a_user_of_an_existing_schema_needs_no_more_rights(
    postgres: PostgresSettings, postgres_server: Server
) -> None:
    """Who may make tables there can migrate; who may not reads what is refused, by whom."""
    user = f"{postgres.schema}_user"
    names = {"schema": sql.Identifier(postgres.schema), "user": sql.Identifier(user)}
    url = make_conninfo(postgres_server.url, user=user, password="another one")
    theirs = evolve(postgres, url=url)
    with superuser(postgres_server) as connection:

        def run(statement: LiteralString) -> None:
            connection.execute(sql.SQL(statement).format(**names))

        run("CREATE ROLE {user} LOGIN PASSWORD 'another one'")
        try:
            with pytest.raises(BackendFailedError, match=r"postgres\.url.*permission denied"):
                await migrate(theirs)
            run("CREATE SCHEMA {schema}")
            with pytest.raises(BackendFailedError, match=r"postgres\.schema.*permission denied"):
                await PostgresTraces(theirs).recent(limit=1)
            run("GRANT USAGE, CREATE ON SCHEMA {schema} TO {user}")
            assert (await migrate(theirs)).before == 0
            traces = PostgresTraces(theirs)
            await traces.record([invocation()])
            await traces.aclose()
        finally:
            run("DROP OWNED BY {user} CASCADE")
            run("DROP ROLE {user}")
