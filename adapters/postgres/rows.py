"""Rows as JSON text: the server makes rows of it, and it of rows, under the attributes' names."""

from collections.abc import Sequence
from typing import Any, TypeVar

from evidence_lookup.adapters.json_values import decode, encode, from_json, to_json
from evidence_lookup.adapters.postgres.texts import loaded_json, stored_json
from evidence_lookup.domain.errors import BackendFailedError

T = TypeVar("T")


def rows_of(values: Sequence[object]) -> str:
    """*values* as one parameter for ``json_to_recordset``, in their order."""
    return stored_json(encode([to_json(value) for value in values]))


def value_of(cls: type[T], row: Sequence[Any]) -> T:
    """The *cls* in the one column of *row*.

    Raises:
        BackendFailedError: the row is damaged, or of a later release.
    """
    try:
        return from_json(cls, decode(loaded_json(row[0])))
    except (TypeError, ValueError) as error:
        raise BackendFailedError(
            f"PostgreSQL (postgres.url): a row cannot be read: {str(row[0])[:80]}…: {error}"
        ) from error
