"""What the number of a VectorStore means, and the similarity it is turned into (R33)."""

import math
from enum import StrEnum

from evidence_lookup.domain.score import Score, ScoreSemantics


class ScoreKind(StrEnum):
    """What a store returns beside a document."""

    COSINE = "cosine"
    """Cosine of two vectors, higher is better."""
    COSINE_DISTANCE = "cosine-distance"
    """1 minus the cosine, lower is better."""
    INNER_PRODUCT = "inner-product"
    """Inner product of two vectors, higher is better."""
    INNER_PRODUCT_DISTANCE = "inner-product-distance"
    """1 minus the inner product, lower is better."""
    L2 = "l2"
    """Euclidean distance, lower is better."""
    L2_SQUARED = "l2-squared"
    """Square of the euclidean distance, lower is better."""
    RELEVANCE = "relevance"
    """From 0 to 1, higher is better, as `similarity_search_with_relevance_scores` gives it."""

    @property
    def semantics(self) -> ScoreSemantics:
        """What its similarity means."""
        return _SEMANTICS[self]

    def similarity(self, number: float) -> Score:
        """*number* as a similarity, higher is better; without a value for NaN and infinity.

        A squared distance d of unit vectors is ``1 - d/2``, their cosine, since
        ``|a - b|^2 = 2 - 2 a.b``; a relevance has no room for directions beyond a right angle,
        which all are 0.
        """
        if not math.isfinite(number):
            return Score(None, self.semantics)
        match self:
            case ScoreKind.COSINE_DISTANCE | ScoreKind.INNER_PRODUCT_DISTANCE:
                value = 1.0 - number
            case ScoreKind.L2:
                value = max(0.0, 1.0 - number * number / 2.0)
            case ScoreKind.L2_SQUARED:
                value = max(0.0, 1.0 - number / 2.0)
            case _:
                value = number
        return Score(value, self.semantics)


_SEMANTICS = {
    ScoreKind.COSINE: ScoreSemantics.COSINE,
    ScoreKind.COSINE_DISTANCE: ScoreSemantics.COSINE,
    ScoreKind.INNER_PRODUCT: ScoreSemantics.INNER_PRODUCT,
    ScoreKind.INNER_PRODUCT_DISTANCE: ScoreSemantics.INNER_PRODUCT,
    ScoreKind.L2: ScoreSemantics.RELEVANCE,
    ScoreKind.L2_SQUARED: ScoreSemantics.RELEVANCE,
    ScoreKind.RELEVANCE: ScoreSemantics.RELEVANCE,
}


def as_similarity(score: Score) -> Score:
    """A score of any semantics as the similarity that this path reports: never a distance."""
    if score.semantics is ScoreSemantics.L2_SQUARED:
        value = math.nan if score.value is None else score.value
        return ScoreKind.L2_SQUARED.similarity(value)
    return score


def similarity_semantics(semantics: ScoreSemantics) -> ScoreSemantics:
    """What the scores of an index of *semantics* mean on this path."""
    return as_similarity(Score(None, semantics)).semantics
