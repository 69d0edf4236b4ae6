"""Every kind of a store's number becomes a similarity, higher is better (R33)."""

import math

import pytest

from evidence_lookup.adapters.vector_store.scores import (
    ScoreKind,
    as_similarity,
    similarity_semantics,
)
from evidence_lookup.domain.score import Score, ScoreSemantics

# What each kind says of the same, the orthogonal and the opposite direction, for unit vectors.
_OF_DIRECTIONS = {
    ScoreKind.COSINE: (1.0, 0.0, -1.0),
    ScoreKind.COSINE_DISTANCE: (0.0, 1.0, 2.0),
    ScoreKind.INNER_PRODUCT: (1.0, 0.0, -1.0),
    ScoreKind.INNER_PRODUCT_DISTANCE: (0.0, 1.0, 2.0),
    ScoreKind.L2: (0.0, math.sqrt(2), 2.0),
    ScoreKind.L2_SQUARED: (0.0, 2.0, 4.0),
    ScoreKind.RELEVANCE: (1.0, 0.0, 0.0),
}


@pytest.mark.parametrize("kind", ScoreKind)
def test_R33_every_kind_is_a_similarity(kind: ScoreKind) -> None:
    """The same direction is 1, a right angle 0, for whatever number the store gives."""
    scores = [kind.similarity(number) for number in _OF_DIRECTIONS[kind]]
    assert [score.similarity for score in scores] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    assert {score.semantics for score in scores} == {kind.semantics}
    assert kind.semantics in (
        ScoreSemantics.COSINE, ScoreSemantics.INNER_PRODUCT, ScoreSemantics.RELEVANCE
    )  # fmt: skip


@pytest.mark.parametrize("kind", ScoreKind)
def test_C13_goodness_falls_with_the_angle(kind: ScoreKind) -> None:
    """Distances and similarities are ordered by their own direction."""
    same, orthogonal, opposite = (
        kind.similarity(number).goodness for number in _OF_DIRECTIONS[kind]
    )
    assert same > orthogonal >= opposite


@pytest.mark.parametrize("kind", ScoreKind)
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_C26_no_number_beats_no_number(kind: ScoreKind, number: float) -> None:
    """NaN and infinity are no value, and so stand below every number."""
    assert kind.similarity(number).value is None
    assert kind.similarity(number).goodness == -math.inf


@pytest.mark.parametrize("kind", [ScoreKind.L2, ScoreKind.L2_SQUARED])
def test_a_relevance_is_never_below_zero(kind: ScoreKind) -> None:
    """Directions beyond a right angle have no relevance at all, however far they are."""
    assert [kind.similarity(number).value for number in (3.0, 4.0, 1e300)] == [0.0, 0.0, 0.0]


def test_R33_an_index_of_distances_reports_similarities() -> None:
    """Only squared distances are turned; all other scores stay what they are."""
    assert as_similarity(Score(0.8, ScoreSemantics.L2_SQUARED)) == Score(
        0.6, ScoreSemantics.RELEVANCE
    )
    assert as_similarity(Score(None, ScoreSemantics.L2_SQUARED)).value is None
    for semantics in (ScoreSemantics.COSINE, ScoreSemantics.BM25, ScoreSemantics.RANK_FUSED):
        assert as_similarity(Score(0.5, semantics)) == Score(0.5, semantics)
    assert similarity_semantics(ScoreSemantics.L2_SQUARED) is ScoreSemantics.RELEVANCE
    assert similarity_semantics(ScoreSemantics.INNER_PRODUCT) is ScoreSemantics.INNER_PRODUCT
