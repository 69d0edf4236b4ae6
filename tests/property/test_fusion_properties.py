"""Fusion and scores, for every input (R12, R34)."""

import math
from random import Random

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from tests.property.strategies import ranked_lists, scores

from evidence_lookup.domain.fusion import Fusion, RankedList, reciprocal_rank, relative_score
from evidence_lookup.domain.score import Score, ScoreSemantics

both = pytest.mark.parametrize("fuse", [reciprocal_rank, relative_score])


def values(fused: tuple[tuple[str, Score], ...]) -> dict[str, float | None]:
    """The score of each key."""
    return {key: score.value for key, score in fused}


@both
@given(lists=ranked_lists)
def test_each_key_of_a_weighed_list_comes_out_once(fuse: Fusion, lists: list[RankedList]) -> None:
    """No key is lost, repeated or added, and each has a number of its own."""
    fused = fuse(lists)
    keys = [key for key, _ in fused]
    assert len(set(keys)) == len(keys)
    assert set(keys) == {key for one in lists if one.weight for key, _ in one.entries}
    numbers = [score.value for _, score in fused]
    assert all(number is not None and math.isfinite(number) for number in numbers)
    assert {score.semantics for _, score in fused} <= {ScoreSemantics.RANK_FUSED}


@both
@given(lists=ranked_lists)
def test_R12_keys_stand_by_score_and_then_by_first_sight(
    fuse: Fusion, lists: list[RankedList]
) -> None:
    """The order follows from the lists alone."""
    fused = fuse(lists)
    seen = list(dict.fromkeys(k for one in lists if one.weight for k, _ in one.entries))
    order = [(-score.goodness, seen.index(key)) for key, score in fused]
    assert order == sorted(order)
    assert fuse(lists) == fused


@both
@given(lists=ranked_lists, place=st.integers(0, 4), extra=ranked_lists)
def test_C20_a_list_of_weight_0_adds_nothing(
    fuse: Fusion, lists: list[RankedList], place: int, extra: list[RankedList]
) -> None:
    """Wherever it stands, the result is the same without it."""
    silent = [evolve(one, weight=0.0) for one in extra]
    assert fuse([*lists[:place], *silent, *lists[place:]]) == fuse(lists)


@both
@given(lists=ranked_lists, turned=st.randoms(use_true_random=False))
def test_the_order_of_the_lists_changes_no_score(
    fuse: Fusion, lists: list[RankedList], turned: Random
) -> None:
    """A permutation of the lists gives each key the same sum."""
    shuffled = list(lists)
    turned.shuffle(shuffled)
    assert values(fuse(shuffled)) == pytest.approx(values(fuse(lists)))


@both
@given(lists=ranked_lists)
def test_C03_a_repeated_entry_counts_once(fuse: Fusion, lists: list[RankedList]) -> None:
    """Repeating a list's entries at its end changes nothing."""
    doubled = [evolve(one, entries=one.entries * 2) for one in lists]
    assert fuse(doubled) == fuse(lists)


@given(scores)
def test_a_similarity_is_a_number_from_0_to_1_or_none(score: Score) -> None:
    """No score, however odd, has a similarity outside its range."""
    assert score.similarity is None or 0.0 <= score.similarity <= 1.0
    assert score.value is None or math.isfinite(score.value)


@given(st.sampled_from(ScoreSemantics), st.floats(), st.floats())
def test_a_better_score_never_has_a_lower_similarity(
    semantics: ScoreSemantics, one: float, other: float
) -> None:
    """Within one semantics the two orders agree, and comparing is never mutual."""
    a, b = Score(one, semantics), Score(other, semantics)
    assert not (a.is_better_than(b) and b.is_better_than(a))
    if a.is_better_than(b) and a.similarity is not None and b.similarity is not None:
        assert a.similarity >= b.similarity
