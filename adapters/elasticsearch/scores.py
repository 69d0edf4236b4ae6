"""What Elasticsearch makes of a similarity, and the way back.

It keeps all scores positive, by the formulas in its documentation of ``dense_vector``.
"""

from evidence_lookup.domain.score import ScoreSemantics

SIMILARITIES = {"COSINE": "cosine", "L2": "l2_norm", "IP": "max_inner_product"}
"""The similarity of an own index, by metric."""
SEMANTICS = {
    "cosine": ScoreSemantics.COSINE,
    "dot_product": ScoreSemantics.INNER_PRODUCT,
    "max_inner_product": ScoreSemantics.INNER_PRODUCT,
    "l2_norm": ScoreSemantics.L2_SQUARED,
}
"""What the scores of an index mean once they are turned back."""


def turned_back(score: float, similarity: str) -> float:
    """The cosine, inner product or squared distance of which *similarity* made *score*.

    ``cosine`` and ``dot_product`` give ``(1 + x) / 2``, ``l2_norm`` gives ``1 / (1 + x)`` of the
    squared distance x, and ``max_inner_product`` gives ``x + 1`` from 0 on and ``1 / (1 - x)``
    below.
    """
    match similarity:
        case "l2_norm":
            # The server's single precision can round a score above 1.
            return max(0.0, 1.0 / score - 1.0) if score > 0 else float("inf")
        case "max_inner_product":
            if score >= 1.0:
                return score - 1.0
            return 1.0 - 1.0 / score if score > 0 else float("-inf")
        case "cosine":
            return min(1.0, max(-1.0, 2.0 * score - 1.0))
        case _:
            return 2.0 * score - 1.0
