"""One ranked list of several."""

import math

import pytest

from evidence_lookup.domain.fusion import Fusion, RankedList, reciprocal_rank, relative_score
from evidence_lookup.domain.score import Score, ScoreSemantics

BOTH: list[Fusion] = [reciprocal_rank, relative_score]


def scored(
    weight: float = 1.0, semantics: ScoreSemantics = ScoreSemantics.BM25, /, **scores: float | None
) -> RankedList:
    """A list of *scores*, in the order given."""
    return RankedList(tuple((key, Score(v, semantics)) for key, v in scores.items()), weight)


def order(fused: tuple[tuple[str, Score], ...]) -> list[str]:
    """The keys of *fused*."""
    return [key for key, _ in fused]


def values(fused: tuple[tuple[str, Score], ...]) -> dict[str, float | None]:
    """The score of each key."""
    return {key: score.value for key, score in fused}


def test_ranks_are_fused_as_the_paper_says() -> None:
    """A key gets weight / (60 + rank) from each list that holds it."""
    fused = reciprocal_rank([scored(a=9, b=8), scored(2.0, b=1, c=0)])
    assert values(fused) == pytest.approx({"b": 1 / 62 + 2 / 61, "c": 2 / 62, "a": 1 / 61})
    assert order(fused) == ["b", "c", "a"]


def test_ranks_may_be_fused_with_another_constant() -> None:
    """A smaller k lets the first ranks weigh more."""
    assert values(reciprocal_rank([scored(a=1, b=0)], k=1)) == pytest.approx(
        {"a": 1 / 2, "b": 1 / 3}
    )


def test_scores_are_fused_by_their_place_between_worst_and_best() -> None:
    """Each list is brought to 0..1 and weighed."""
    fused = relative_score([scored(a=10, b=9, c=0), scored(0.5, b=0.4, d=0.2)])
    assert values(fused) == pytest.approx({"b": 0.9 + 0.5, "a": 1.0, "c": 0.0, "d": 0.0})
    assert order(fused) == ["b", "a", "c", "d"]


def test_distances_are_fused_with_the_nearest_best() -> None:
    """Lower is better where the semantics say so."""
    fused = relative_score([scored(1.0, ScoreSemantics.L2_SQUARED, near=0.0, mid=0.5, far=2.0)])
    assert values(fused) == pytest.approx({"near": 1.0, "mid": 0.75, "far": 0.0})


def test_equal_scores_get_the_full_weight() -> None:
    """A list without spread does not divide by zero: each key is its best."""
    assert values(relative_score([scored(0.5, a=3, b=3), scored(c=0)])) == {
        "c": 1.0,
        "a": 0.5,
        "b": 0.5,
    }


@pytest.mark.parametrize("fuse", BOTH)
def test_the_fused_score_says_what_it_is(fuse: Fusion) -> None:
    """Fused scores are labelled as such and have no similarity."""
    ((_, score),) = fuse([scored(a=0.9)])
    assert score.semantics is ScoreSemantics.RANK_FUSED
    assert score.similarity is None


@pytest.mark.parametrize("fuse", BOTH)
def test_R12_ties_stand_in_order_of_first_sight(fuse: Fusion) -> None:
    """Two keys of equal sums stand as the first list that holds one of them has them."""
    assert order(fuse([scored(z=2, m=1), scored(m=2, z=1)])) == ["z", "m"]
    assert order(fuse([scored(m=2, z=1), scored(z=2, m=1)])) == ["m", "z"]


@pytest.mark.parametrize("fuse", BOTH)
def test_nothing_is_fused_to_nothing(fuse: Fusion) -> None:
    """No lists, or empty lists, give no keys."""
    assert fuse([]) == ()
    assert fuse([RankedList(()), RankedList((), 0.5)]) == ()


def test_C03_a_chunk_counts_once_in_a_list_and_chunks_not_as_their_document() -> None:
    """Five chunks of one document do not add up against a chunk that two lists hold."""
    chunks = {f"a#chunk-{n}": 0.9 - n / 100 for n in range(5)}
    first = scored(**chunks, **{"b#chunk-0": 0.8})
    fused = reciprocal_rank([first, scored(**{"b#chunk-0": 0.7})])
    assert order(fused) == ["b#chunk-0", *chunks]
    assert fused[0][1].value == pytest.approx(1 / 66 + 1 / 61)


@pytest.mark.parametrize("fuse", BOTH)
def test_C03_a_repeated_key_counts_at_its_best_rank(fuse: Fusion) -> None:
    """A list that holds a key twice gives it one share, and moves nobody down."""
    bm25 = ScoreSemantics.BM25
    once = RankedList((("a", Score(3, bm25)), ("b", Score(2, bm25)), ("c", Score(0, bm25))))
    twice = RankedList((once.entries[0], ("a", Score(2.5, bm25)), *once.entries[1:]))
    assert fuse([twice]) == fuse([once])


@pytest.mark.parametrize("fuse", BOTH)
def test_C20_weights_count(fuse: Fusion) -> None:
    """Weight 0 adds not even keys, and two weight settings give two orders."""
    one, two = {"a": 2.0, "b": 1.0}, {"X": 2.0, "b": 1.0}
    assert order(fuse([scored(1.0, **one), scored(0.0, **two)])) == ["a", "b"]
    assert order(fuse([scored(1.0, **one), scored(0.5, a=2.0, X=1.0)]))[0] == "a"
    assert order(fuse([scored(0.1, a=2.0, b=1.0), scored(1.0, X=2.0, a=1.0)]))[0] != "b"
    assert order(fuse([scored(1.0, a=1.0), scored(2.0, X=1.0)])) == ["X", "a"]
    assert order(fuse([scored(2.0, a=1.0), scored(1.0, X=1.0)])) == ["a", "X"]


@pytest.mark.parametrize("weight", [-0.1, math.nan, math.inf, -math.inf])
def test_C20_a_weight_that_is_no_weight_is_refused(weight: float) -> None:
    """Weights are finite and not negative."""
    with pytest.raises(ValueError, match="a fusion weight must be a finite number of 0 or more"):
        RankedList((), weight)


@pytest.mark.parametrize("fuse", BOTH)
@pytest.mark.parametrize("missing", [None, math.nan, math.inf])
def test_C21_a_missing_score_is_the_worst_and_breaks_nothing(
    fuse: Fusion, missing: float | None
) -> None:
    """Mixed numbers and missing scores fuse without an exception, the number first."""
    fused = fuse([scored(a=0.9, b=missing)])
    assert order(fused) == ["a", "b"]
    assert all(score.value is not None for _, score in fused)
    assert values(relative_score([scored(a=0.9, b=missing)])) == {"a": 1.0, "b": 0.0}


@pytest.mark.parametrize("fuse", BOTH)
def test_C24_a_list_without_any_score_keeps_its_order(fuse: Fusion) -> None:
    """Rank-only lists fuse in their order."""
    assert order(fuse([scored(1.0, ScoreSemantics.RANK_ONLY, b=None, a=None)])) == ["b", "a"]


def test_C26_scores_whose_difference_overflows_give_numbers() -> None:
    """No fused score is NaN, however large the list's scores are."""
    fused = relative_score([scored(a=1e308, b=-1e308), scored(b=1.0)])
    assert values(fused) == {"b": 2.0, "a": 1.0}
