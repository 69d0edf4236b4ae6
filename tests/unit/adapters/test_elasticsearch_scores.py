"""Elasticsearch's scores and the numbers they were made of."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence_lookup.adapters.elasticsearch.scores import SEMANTICS, SIMILARITIES, turned_back
from evidence_lookup.domain.score import Score

FORMULAS: dict[str, Callable[[float], float]] = {
    "cosine": lambda x: (1 + x) / 2,
    "dot_product": lambda x: (1 + x) / 2,
    "l2_norm": lambda x: 1 / (1 + x),
    "max_inner_product": lambda x: x + 1 if x >= 0 else 1 / (1 - x),
}
"""As the documentation of ``dense_vector`` has them; x is the squared distance for l2_norm."""
RANGES = {
    "cosine": (-1.0, 1.0),
    "dot_product": (-1.0, 1.0),
    "l2_norm": (0.0, 4.0),
    "max_inner_product": (-50.0, 50.0),
}
similarities = pytest.mark.parametrize("similarity", FORMULAS)


@similarities
@settings(deadline=None, derandomize=True)
@given(share=st.floats(0, 1))
def test_R32_round_trip(similarity: str, share: float) -> None:
    """What a score was made of comes back, to what the server's single precision leaves of it."""
    low, high = RANGES[similarity]
    value = low + share * (high - low)
    score = float(np.float32(FORMULAS[similarity](value)))
    # Below 0 an inner product is the inverse of its score, and so is a distance.
    spread = max(1.0, value * value) if similarity in ("l2_norm", "max_inner_product") else 1.0
    assert turned_back(score, similarity) == pytest.approx(value, abs=3e-7 * spread + 1e-6)


@similarities
@settings(deadline=None, derandomize=True)
@given(one=st.floats(1e-3, 60), two=st.floats(1e-3, 60))
def test_R32_order_is_kept(similarity: str, one: float, two: float) -> None:
    """A better score stays better by the direction of its semantics, for any two scores."""
    scores = [Score(turned_back(each, similarity), SEMANTICS[similarity]) for each in (one, two)]
    if one >= two:
        assert not scores[1].is_better_than(scores[0])


@similarities
def test_known_points(similarity: str) -> None:
    """Equal, orthogonal and opposite unit vectors have the similarities 1, 0 and 0."""
    numbers = (0.0, 2.0, 4.0) if similarity == "l2_norm" else (1.0, 0.0, -1.0)
    scores = [
        Score(turned_back(FORMULAS[similarity](one), similarity), SEMANTICS[similarity])
        for one in numbers
    ]
    assert [score.value for score in scores] == pytest.approx(numbers, abs=1e-9)
    assert [score.similarity for score in scores] == pytest.approx([1, 0, 0], abs=1e-9)


@similarities
def test_rounding_above_the_best(similarity: str) -> None:
    """A score that the server rounds a bit above that of equal vectors stays in its range."""
    best = float(np.nextafter(np.float32(1), np.float32(2)))
    value = turned_back(best, similarity)
    assert value >= 0.0
    assert similarity != "cosine" or value <= 1.0


def test_every_metric_has_a_similarity_that_is_read() -> None:
    """What an own index is made with can be turned back."""
    assert SIMILARITIES.keys() == {"COSINE", "L2", "IP"}
    assert set(SIMILARITIES.values()) <= SEMANTICS.keys() == FORMULAS.keys()
