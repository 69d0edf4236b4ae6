"""What every search backend asks of a vector before it takes it."""

from typing import TYPE_CHECKING

from evidence_lookup.domain.errors import DimensionMismatchError, InvalidVectorError

if TYPE_CHECKING:
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
    # A square below the smallest float32 counts as zero for the backends too.
    if not float(np.dot(vector, vector)) > 0.0:
        raise InvalidVectorError(f"{what} is zero, which is near to nothing")
