"""The catalogue and the traces in one SQLite file, shared by processes."""

from evidence_lookup.adapters.sqlite.catalogue import SqliteCatalogue
from evidence_lookup.adapters.sqlite.traces import SqliteTraces

__all__ = ["SqliteCatalogue", "SqliteTraces"]
