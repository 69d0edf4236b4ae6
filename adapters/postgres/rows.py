"""Rows as JSON text: the server makes rows of it, and it of rows, under the attributes' names."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from evidence_lookup.adapters.json_values import decode, dumps_utf8, from_json
from evidence_lookup.adapters.postgres.texts import loaded_json, stored_json
from evidence_lookup.domain.errors import BackendFailedError

S = TypeVar("S")
T = TypeVar("T")
_FEW = 4
"""More are turned in a worker thread: a hundred take as long as a lookup."""


async def rows_of(values: Sequence[object]) -> str:
    """*values* as one parameter for ``json_to_recordset``, in their order."""
    return await _turned(_rows_of, values)


async def values_of(cls: type[T], rows: Sequence[Sequence[Any]]) -> tuple[T, ...]:
    """The *cls* in the one column of each of *rows*.

    Raises:
        BackendFailedError: a row is damaged, or of a later release.
    """
    return await _turned(lambda some: tuple(_value_of(cls, row[0]) for row in some), rows)


async def _turned(turn: Callable[[Sequence[S]], T], things: Sequence[S]) -> T:
    if len(things) <= _FEW:
        return turn(things)
    # Whoever gives up waiting leaves the thread to itself.
    return await asyncio.to_thread(turn, things)


def _rows_of(values: Sequence[object]) -> str:
    return stored_json(dumps_utf8(list(values)).decode())


def _value_of(cls: type[T], text: str) -> T:
    try:
        return from_json(cls, decode(loaded_json(text)))
    except (TypeError, ValueError) as error:
        raise BackendFailedError(
            f"PostgreSQL (postgres.url): a row of {cls.__name__} cannot be read, {text[:60]}…: "
            f"{error}"
        ) from error
