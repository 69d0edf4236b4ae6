"""The driver, read when it is first needed."""

import importlib

from evidence_lookup.domain.errors import MissingExtraError


def load() -> None:
    """Read the driver's modules; the first time takes some tenths of a second.

    Raises:
        MissingExtraError: psycopg, or the library of PostgreSQL that it needs, is not installed.
    """
    try:
        importlib.import_module("psycopg")
    except ImportError as error:
        raise MissingExtraError("postgres", "a store in PostgreSQL") from error
    importlib.import_module("evidence_lookup.adapters.postgres.pool")
    importlib.import_module("evidence_lookup.adapters.postgres.faults")
    importlib.import_module("evidence_lookup.adapters.postgres.versions")
