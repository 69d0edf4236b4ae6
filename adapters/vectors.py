"""Vectors brought to unit length, and checked before a backend takes them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evidence_lookup.domain.errors import DimensionMismatchError, InvalidVectorError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evidence_lookup.ports.embedder import Vectors


def check_vector(vector: "Vectors", dimension: int, *, what: str) -> None:
    """Refuse a vector that has no similarity to anything.

    *what* names the vector in the message: ``the query's vector``.

    Raises:
        DimensionMismatchError: its shape is not ``(dimension,)``.
        InvalidVectorError: it is zero, NaN or infinite.
    """
    import numpy as np

    if vector.shape != (dimension,):
        raise DimensionMismatchError(
            f"{what} has {vector.size} dimensions, but the collection has {dimension}: it was "
            "made by another embedder (set embedder.kind and embedder.model back, or run "
            "'evidence-lookup ingest PATH --rebuild')",
            expected=dimension,
            actual=int(vector.size),
        )
    if not np.isfinite(vector).all():
        raise InvalidVectorError(f"{what} holds NaN or infinity")
    # A square that float32 cannot hold counts as zero or infinite for the backends too.
    with np.errstate(over="ignore"):
        square = float(np.dot(vector, vector))
    if not square > 0.0:
        raise InvalidVectorError(f"{what} is zero, which is near to nothing")
    if square == float("inf"):
        raise InvalidVectorError(f"{what} is too long for a float32 to hold its length")


def unit_rows(
    rows: "Sequence[NDArray[np.floating]] | NDArray[np.floating]",
) -> "NDArray[np.float32]":
    """*rows*, of equal length and at least one, as float32 of unit length each.

    Raises:
        InvalidVectorError: a row is zero, NaN or infinite; the message has its number from 0.
    """
    import numpy as np

    array = np.asarray(rows, np.float64)
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    wrong = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
    if wrong.size:
        raise InvalidVectorError(f"the vector of text {wrong[0]} is zero, NaN or infinite")
    unit: NDArray[np.float32] = (array / lengths).astype(np.float32)
    return unit
