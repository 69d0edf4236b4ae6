"""The dense score of a row that another search found."""

from typing import TYPE_CHECKING

from evidence_lookup.domain.score import ScoreSemantics

if TYPE_CHECKING:
    from evidence_lookup.ports.embedder import Vectors


def similarity(query: "Vectors", stored: "Vectors", semantics: ScoreSemantics) -> float:
    """What the dense search would have said of *stored*."""
    import numpy as np

    a, b = query.astype(np.float64), stored.astype(np.float64)
    match semantics:
        case ScoreSemantics.L2_SQUARED:
            return float(np.dot(a - b, a - b))
        case ScoreSemantics.INNER_PRODUCT:
            return float(np.dot(a, b))
        case _:
            return float(np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b)))
