"""How the tables come to be, and to their newest version: only when asked for."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

import anyio
from attrs import frozen

from evidence_lookup.adapters.postgres.driver import load
from evidence_lookup.adapters.postgres.schema import MIGRATIONS, VERSIONS, Migration
from evidence_lookup.adapters.postgres.settings import PostgresSettings
from evidence_lookup.adapters.postgres.statements import statement
from evidence_lookup.domain.errors import BackendFailedError, BackendTimeoutError

if TYPE_CHECKING:
    from evidence_lookup.adapters.postgres.connection import Connection

T = TypeVar("T")
_SECONDS = 600.0
"""How long a migration may take: it may have to write every row anew."""
_LOCK = "SELECT pg_advisory_xact_lock(%s)"
_HAS_SCHEMA = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = %s)"
_MADE = "INSERT INTO {schema_version} (version) VALUES (%s)"


@frozen
class MigrationStatus:
    """Versions of the tables in `schema`, 0 where there are none.

    `before` is the one that was found, `after` the one that `migrate` makes of it.
    """

    schema: str
    before: int
    after: int

    @property
    def is_current(self) -> bool:
        """Whether there was nothing to do."""
        return self.before == self.after


async def migrate(
    settings: PostgresSettings, migrations: Sequence[Migration] = MIGRATIONS
) -> MigrationStatus:
    """Make the schema and its tables, or bring them to the last version: all or nothing.

    Of several at once, on whatever hosts, one does it and the others wait. May be repeated.

    Raises:
        BackendFailedError: the tables are of a later version, or the user may not make them.
        BackendError: the server does not answer, or refuses.
        SettingsError: the url is empty, or is none.
        MissingExtraError: the driver is not installed.
    """

    async def work(connection: "Connection") -> MigrationStatus:
        from evidence_lookup.adapters.postgres.versions import version_of

        async with connection.transaction():
            await connection.execute(_LOCK, [_key(settings.schema)])
            before = await version_of(connection, settings, known=len(migrations))
            if before == 0:
                await _prepare(connection, settings.schema)
            for number, steps in enumerate(migrations[before:], start=before + 1):
                for step in steps:
                    await connection.execute(statement(settings.schema, step))
                await connection.execute(statement(settings.schema, _MADE), [number])
        return MigrationStatus(settings.schema, before, len(migrations))

    return await _on_own_connection(settings, work)


async def migration_status(settings: PostgresSettings) -> MigrationStatus:
    """What `migrate` would do; reads only, and raises as it."""

    async def work(connection: "Connection") -> MigrationStatus:
        from evidence_lookup.adapters.postgres.versions import version_of

        before = await version_of(connection, settings)
        return MigrationStatus(settings.schema, before, len(MIGRATIONS))

    return await _on_own_connection(settings, work)


async def _prepare(connection: "Connection", schema: str) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise BackendFailedError(
            f"the database of postgres.url has the encoding {encoding}, which cannot hold every "
            "text: make one with ENCODING 'UTF8'"
        )
    # Asked first, since a user who may make tables in a schema may not be allowed to make one.
    cursor = await connection.execute(_HAS_SCHEMA, [schema])
    if await cursor.fetchone() == (False,):
        await connection.execute(statement(schema, "CREATE SCHEMA {schema}"))
    await connection.execute(statement(schema, VERSIONS))


async def _on_own_connection(
    settings: PostgresSettings, work: "Callable[[Connection], Awaitable[T]]"
) -> T:
    await asyncio.to_thread(load)
    from evidence_lookup.adapters.postgres.connection import connect
    from evidence_lookup.adapters.postgres.faults import translated

    try:
        with anyio.fail_after(_SECONDS), translated(settings):
            connection = await connect(settings, statement_seconds=_SECONDS)
            try:
                return await work(connection)
            finally:
                connection.discard()
    except TimeoutError as error:
        raise BackendTimeoutError(
            f"PostgreSQL (postgres.url) was not done within {_SECONDS:g} s"
        ) from error


def _key(schema: str) -> int:
    """The number of the lock that all who migrate *schema* take."""
    digest = sha256(f"evidence-lookup migrate {schema}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
