"""PostgreSQL: records of lookups and the catalogue, which several hosts share.

The driver is read when something is first asked of the server.
"""

from evidence_lookup.adapters.postgres.catalogue import PostgresCatalogue
from evidence_lookup.adapters.postgres.migrations import (
    MigrationStatus,
    migrate,
    migration_status,
)
from evidence_lookup.adapters.postgres.settings import PostgresSettings
from evidence_lookup.adapters.postgres.traces import PostgresTraces

__all__ = [
    "MigrationStatus",
    "PostgresCatalogue",
    "PostgresSettings",
    "PostgresTraces",
    "migrate",
    "migration_status",
]
