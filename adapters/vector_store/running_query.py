"""The vector of the query that is being looked up, wherever a store asks for it."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evidence_lookup.ports.embedder import Vectors

_vector: "ContextVar[Vectors | None]" = ContextVar("running_query_vector", default=None)


@contextmanager
def running(vector: "Vectors") -> Generator[None, None, None]:
    """Inside, and in what is started inside with a copy of the context, *vector* is the query's."""
    token = _vector.set(vector)
    try:
        yield
    finally:
        _vector.reset(token)


def running_vector() -> "list[float] | None":
    """The query's vector inside `running`, else None."""
    vector = _vector.get()
    return None if vector is None else [float(number) for number in vector]
