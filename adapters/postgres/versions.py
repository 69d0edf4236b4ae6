"""Which version the tables have, and whether this release can use them."""

from evidence_lookup.adapters.postgres.connection import Connection, connect
from evidence_lookup.adapters.postgres.conninfo import place
from evidence_lookup.adapters.postgres.schema import MIGRATIONS
from evidence_lookup.adapters.postgres.settings import PostgresSettings
from evidence_lookup.adapters.postgres.statements import statement
from evidence_lookup.domain.errors import BackendFailedError, CollectionMissingError

_IS_THERE = "SELECT to_regclass(%s) IS NOT NULL"
_VERSION = "SELECT coalesce(max(version), 0) FROM {schema_version}"


async def connect_checked(settings: PostgresSettings) -> Connection:
    """A connection to a database whose tables are of the version that this release works with.

    Raises:
        CollectionMissingError: they are not there, or older; says what to run.
        BackendFailedError: they are of a later release.
        Exception: as `connect`.
    """
    connection = await connect(settings)
    try:
        version = await version_of(connection, settings)
        if version < len(MIGRATIONS):
            raise CollectionMissingError(
                f"PostgreSQL at {place(settings)} (postgres.url) has "
                + (f"our tables in version {version}" if version else "no tables of ours")
                + f" in the schema {settings.schema!r} (postgres.schema), this release needs "
                f"version {len(MIGRATIONS)}: run `evidence-lookup migrate`"
            )
    except BaseException:
        connection.discard()
        raise
    return connection


async def version_of(
    connection: Connection, settings: PostgresSettings, *, known: int = len(MIGRATIONS)
) -> int:
    """The version of the tables, 0 where there are none; reads only.

    Raises:
        BackendFailedError: they are of a version later than *known*.
    """
    name = statement(settings.schema, "{schema_version}").decode()
    cursor = await connection.execute(_IS_THERE, [name])
    if await cursor.fetchone() != (True,):
        return 0
    cursor = await connection.execute(statement(settings.schema, _VERSION))
    ((version,),) = await cursor.fetchall()
    if version > known:
        raise BackendFailedError(
            f"PostgreSQL at {place(settings)} (postgres.url) has our tables in version {version} "
            f"in the schema {settings.schema!r}, but this release knows versions up to {known} "
            "only: use the release that migrated them, or set postgres.schema"
        )
    return int(version)
