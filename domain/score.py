"""A score is a number with semantics: what it measures, its direction, its range (R32 to R34)."""

import math
from enum import StrEnum

from attrs import field, frozen


class ScoreSemantics(StrEnum):
    """What the number of a score means."""

    L2_SQUARED = "l2_squared"
    """Squared euclidean distance, 0 to infinity, lower is better."""
    COSINE = "cosine"
    """Cosine of two vectors, -1 to 1, higher is better."""
    INNER_PRODUCT = "inner_product"
    """Inner product of two vectors, unbounded, higher is better."""
    BM25 = "bm25"
    """Okapi BM25 weight, from 0, higher is better; comparable within one query only."""
    RANK_FUSED = "rank_fused"
    """Made by fusing ranked lists, higher is better; comparable within one query only."""
    RELEVANCE = "relevance"
    """A similarity already brought to 0..1 by the store, higher is better."""
    RANK_ONLY = "rank_only"
    """The store gave an order and no number."""

    @property
    def higher_is_better(self) -> bool:
        """The direction in which scores improve."""
        return self is not ScoreSemantics.L2_SQUARED


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


@frozen
class Score:
    """One score. A value that is NaN or infinite is no value: it becomes None."""

    value: float | None = field(converter=_finite)
    semantics: ScoreSemantics

    @property
    def goodness(self) -> float:
        """The value turned so that higher is better; minus infinity where there is none."""
        if self.value is None:
            return -math.inf
        return self.value if self.semantics.higher_is_better else -self.value

    def is_better_than(self, other: "Score") -> bool:
        """Whether this score beats *other*; no value never beats a value.

        Raises:
            TypeError: the two scores have different semantics.
        """
        if self.semantics is not other.semantics:
            raise TypeError(f"cannot compare {self.semantics} with {other.semantics}")
        return self.goodness > other.goodness

    @property
    def similarity(self) -> float | None:
        """The score as a similarity from 0 to 1, or None where none exists.

        For unit vectors cosine, inner product and ``1 - d/2`` of the squared distance d are one
        number, since ``|a - b|^2 = 2 - 2 a.b``; opposite directions count as 0. BM25, fused and
        rank-only scores mean nothing outside their query, so they have no similarity.
        """
        if self.value is None:
            return None
        match self.semantics:
            case ScoreSemantics.COSINE | ScoreSemantics.INNER_PRODUCT | ScoreSemantics.RELEVANCE:
                return min(1.0, max(0.0, self.value))
            case ScoreSemantics.L2_SQUARED:
                return min(1.0, max(0.0, 1.0 - self.value / 2.0))
            case _:
                return None
