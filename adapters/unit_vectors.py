"""Brings vectors that others made to unit length."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evidence_lookup.domain.errors import InvalidVectorError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def unit_rows(rows: "Sequence[NDArray[np.float64]] | NDArray[np.float32]") -> "NDArray[np.float32]":
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
