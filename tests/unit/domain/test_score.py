"""Scores and their semantics (R32 to R34)."""

import json
import math

import pytest
from attrs import asdict
from tests.unit.domain.samples import candidate, cosine, hit, keys, ranked

from evidence_lookup.domain.candidate import best_similarity, candidates_from
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.domain.selection import SelectionLimits, select

L2 = ScoreSemantics.L2_SQUARED
WITHOUT_SIMILARITY = [ScoreSemantics.BM25, ScoreSemantics.RANK_FUSED, ScoreSemantics.RANK_ONLY]


@pytest.mark.parametrize(
    ("distance", "similarity"), [(0.0, 1.0), (0.02, 0.99), (1.0, 0.5), (2.0, 0.0), (4.0, 0.0)]
)
def test_R32_a_distance_stays_a_distance_and_is_normalised_as_one(
    distance: float, similarity: float
) -> None:
    """The squared L2 distance keeps its value, lower is better, and 1 - d/2 is its similarity."""
    score = candidate(score=Score(distance, L2)).score
    assert (score.value, score.semantics) == (distance, L2)
    assert not score.semantics.higher_is_better
    assert score.similarity == pytest.approx(similarity)


def test_R32_the_nearer_distance_is_better() -> None:
    """Of two distances the smaller one wins."""
    assert Score(0.1, L2).is_better_than(Score(0.2, L2))
    assert not Score(0.2, L2).is_better_than(Score(0.1, L2))
    assert not Score(0.1, L2).is_better_than(Score(0.1, L2))


def test_R33_a_stores_similarity_can_be_told_from_a_distance() -> None:
    """A relevance is labelled as such and is its own similarity."""
    relevance = Score(0.8, ScoreSemantics.RELEVANCE)
    assert relevance.semantics == "relevance"
    assert relevance.semantics.higher_is_better
    assert relevance.similarity == 0.8
    assert Score(0.8, L2).semantics == "l2_squared"


@pytest.mark.parametrize("one", ScoreSemantics)
@pytest.mark.parametrize("other", ScoreSemantics)
def test_R34_scores_of_different_semantics_are_never_compared(
    one: ScoreSemantics, other: ScoreSemantics
) -> None:
    """A comparison across semantics is a mistake of the caller, not an order."""
    if one is other:
        assert not Score(0.5, one).is_better_than(Score(0.5, other))
    else:
        with pytest.raises(TypeError, match=f"cannot compare {one} with {other}"):
            Score(0.5, one).is_better_than(Score(0.5, other))


def test_R34_only_a_distance_is_better_when_lower() -> None:
    """Every semantics but the L2 distance improves upwards."""
    assert [each for each in ScoreSemantics if not each.higher_is_better] == [L2]


@pytest.mark.parametrize("semantics", WITHOUT_SIMILARITY)
def test_R53_a_score_without_meaning_outside_its_query_has_no_similarity(
    semantics: ScoreSemantics,
) -> None:
    """BM25, fused and rank-only scores are never read as similarities."""
    assert Score(0.9, semantics).similarity is None


def test_R53_the_dense_score_of_a_fused_hit_is_its_similarity() -> None:
    """Where a dense score stands beside the fused one, similarity is taken from it alone."""
    fused = Score(0.016, ScoreSemantics.RANK_FUSED)
    assert candidate(score=fused, similarity_score=cosine(0.7)).similarity == 0.7
    assert candidate(score=fused, similarity_score=None).similarity is None
    assert candidate(score=fused, similarity_score=Score(0.5, L2)).similarity == 0.75


def test_the_best_similarity_passes_over_candidates_without_one() -> None:
    """The highest known similarity counts; none known, or no candidates, gives none."""
    unknown = hit("b", 0, Score(12.0, ScoreSemantics.BM25))
    assert best_similarity(candidates_from([unknown, hit("a", 0, 0.3), hit("a", 1, 0.6)])) == 0.6
    assert best_similarity(candidates_from([unknown])) is None
    assert best_similarity([]) is None


def test_C13_a_distance_is_not_taken_for_a_similarity() -> None:
    """Of the L2 hits 0.0, 0.02, 2.0 and 4.0 the first two pass 0.5, in this order."""
    hits = [hit("a", n, Score(d, L2)) for n, d in enumerate([0.0, 0.02, 2.0, 4.0])]
    accepted, drops = select(ranked(*hits), SelectionLimits(max_chunks_per_document=9, floor=0.5))
    assert keys(accepted) == ["a#chunk-0", "a#chunk-1"]
    assert [(d.evidence_key, d.reason.value, d.similarity) for d in drops] == [
        ("a#chunk-2", "below_floor", 0.0),
        ("a#chunk-3", "below_floor", 0.0),
    ]


def test_C14_a_cosine_is_a_similarity_and_is_not_turned_round() -> None:
    """The COSINE hits 1.0, 0.99, 0.0 and -1.0 keep values, order and semantics."""
    values = [1.0, 0.99, 0.0, -1.0]
    found = ranked(*(hit("a", n, cosine(v)) for n, v in enumerate(values)))
    assert [one.candidate.score.value for one in found] == values
    assert {one.candidate.score.semantics for one in found} == {ScoreSemantics.COSINE}
    assert [one.candidate.similarity for one in found] == [1.0, 0.99, 0.0, 0.0]


def test_C15_one_threshold_has_one_direction_for_the_inner_product() -> None:
    """Of the IP hits 0.92 and 0.31 exactly the first passes 0.5."""
    product = ScoreSemantics.INNER_PRODUCT
    hits = (hit("a", 0, Score(0.92, product)), hit("b", 0, Score(0.31, product)))
    accepted, drops = select(ranked(*hits), SelectionLimits(floor=0.5))
    assert keys(accepted) == ["a#chunk-0"]
    assert keys(drops) == ["b#chunk-0"]


@pytest.mark.parametrize("value", [1.5, 17.0])
def test_a_similarity_never_leaves_0_to_1(value: float) -> None:
    """An inner product of longer vectors counts as 1, a negative one as 0."""
    assert Score(value, ScoreSemantics.INNER_PRODUCT).similarity == 1.0
    assert Score(-value, ScoreSemantics.INNER_PRODUCT).similarity == 0.0
    assert Score(-value, L2).similarity == 1.0


@pytest.mark.parametrize("floor", [0.1, 1.0])
def test_C18_no_score_is_not_a_low_score(floor: float) -> None:
    """A keyword hit of score None passes any floor, for there is nothing to judge it by."""
    nameless = hit("a", 0, Score(None, ScoreSemantics.BM25))
    accepted, drops = select(ranked(nameless), SelectionLimits(floor=floor))
    assert (keys(accepted), drops) == (["a#chunk-0"], ())


def test_C24_a_hit_without_score_keeps_its_rank() -> None:
    """Rank-only hits stand in the port's order, without value and without similarity."""
    nothing = Score(None, ScoreSemantics.RANK_ONLY)
    found = ranked(hit("b", 0, nothing), hit("a", 0, nothing), hit("c", 0, nothing))
    assert keys(found) == ["b#chunk-0", "a#chunk-0", "c#chunk-0"]
    assert found[0].candidate.score == nothing
    assert found[0].candidate.similarity is None


def test_C25_a_floor_drops_no_keyword_hit_by_its_raw_number() -> None:
    """BM25 weights below the floor, negative ones too, are no similarities below it."""
    hits = [hit("a", n, Score(v, ScoreSemantics.BM25)) for n, v in enumerate([0.05, -1.65])]
    accepted, drops = select(ranked(*hits), SelectionLimits(floor=0.1))
    assert (keys(accepted), drops) == (["a#chunk-0", "a#chunk-1"], ())


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("semantics", ScoreSemantics)
def test_C26_a_score_that_is_no_number_is_no_value(value: float, semantics: ScoreSemantics) -> None:
    """NaN and infinity become None, have no similarity, beat nothing and make valid JSON."""
    broken = Score(value, semantics)
    assert broken.value is None
    assert broken.similarity is None
    assert not broken.is_better_than(Score(-1e9, semantics))
    assert Score(1e9, semantics).is_better_than(broken)
    assert Score(-1e9, semantics).is_better_than(broken)
    assert "NaN" not in json.dumps(asdict(broken), allow_nan=False)


def test_C26_one_nan_does_not_scramble_the_order() -> None:
    """With a NaN among the hits the numbers stand in their order, and no base is NaN."""
    found = ranked(hit("a", 0, 0.7), hit("b", 0, math.nan), hit("c", 0, 0.9), hit("d", 0, 0.8))
    assert keys(found) == ["c#chunk-0", "d#chunk-0", "a#chunk-0", "b#chunk-0"]
    assert [one.base for one in found] == pytest.approx([1.0, 0.5, 0.0, 0.0])
