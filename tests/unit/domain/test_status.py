"""What an answer is worth (R22, R24, R54)."""

import pytest
from tests.unit.domain.samples import block

from evidence_lookup.domain.pack import ContextPackSummary, PackedSource
from evidence_lookup.domain.selection import Drop, DropReason
from evidence_lookup.domain.status import (
    CompletenessHint,
    EvidenceStatus,
    RelevanceLevel,
    Thresholds,
    completeness,
    evidence_status,
    is_usable,
    relevance_level,
)

THRESHOLDS = Thresholds(reference=0.5, high=0.8)
WHOLE = ContextPackSummary(100, 10)
CAP = Drop("c#chunk-0", DropReason.DOCUMENT_CAP, 3)
BEYOND = Drop("d#chunk-0", DropReason.RETURN_N, 4)
SHORT = PackedSource("a#chunk-0", "a.md", "budget")


@pytest.mark.parametrize(
    ("similarities", "level", "status"),
    [
        ((), "none", "no_evidence"),
        ((0.49,), "low", "low_relevance"),
        ((0.5,), "reference", "found"),
        ((0.79,), "reference", "found"),
        ((0.8,), "high", "found"),
        ((0.1, 0.9), "high", "found"),
        ((0.1, None), "low", "low_relevance"),
        ((None,), "reference", "found"),
        ((None, 0.6), "reference", "found"),
        ((0.0,), "low", "low_relevance"),
    ],
)
def test_R54_the_best_block_gives_level_and_status(
    similarities: tuple[float | None, ...], level: str, status: str
) -> None:
    """Thresholds are inclusive, the order of blocks is no matter, no score is not a low score."""
    blocks = [block(f"a#chunk-{n}", similarity=s) for n, s in enumerate(similarities)]
    found = relevance_level(blocks, THRESHOLDS)
    assert found.value == level
    assert evidence_status(found).value == status


def test_R54_the_words_are_contract() -> None:
    """Statuses, levels and hints are spelled as the contract has them."""
    assert [each.value for each in EvidenceStatus] == [
        "found", "low_relevance", "no_evidence", "unavailable",
    ]  # fmt: skip
    assert [each.value for each in RelevanceLevel] == ["high", "reference", "low", "none"]
    assert sorted(each.value for each in CompletenessHint) == [
        "capped_per_document", "complete", "cut_by_budget", "limited_by_return_n", "none",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("similarity", "has_blocks", "usable"),
    [(0.5, True, True), (0.49, True, False), (0.9, False, False), (None, True, True),
     (None, False, False), (0.0, True, False)],
)  # fmt: skip
def test_R22_R24_blocks_at_the_reference_threshold_are_usable(
    similarity: float | None, has_blocks: bool, usable: bool
) -> None:
    """Usable is what has blocks and reaches the threshold, or has nothing to judge by."""
    assert is_usable(similarity, has_blocks, THRESHOLDS) is usable


@pytest.mark.parametrize(
    ("drops", "summary", "hint", "says"),
    [
        ((), WHOLE, "complete", "in full"),
        ((CAP,), WHOLE, "capped_per_document", "1 more"),
        ((BEYOND, BEYOND), WHOLE, "limited_by_return_n", "2 more"),
        ((BEYOND, CAP), WHOLE, "capped_per_document", "1 more"),
        ((CAP,), ContextPackSummary(100, 99, cut=(SHORT,)), "cut_by_budget", "1 of 2"),
        (
            (BEYOND,),
            ContextPackSummary(100, 99, cut=(SHORT,), omitted=(SHORT,)),
            "cut_by_budget",
            "2 of 2",
        ),
    ],
)
def test_R54_completeness_names_what_held_something_back(
    drops: tuple[Drop, ...], summary: ContextPackSummary, hint: str, says: str
) -> None:
    """The budget speaks first, then the cap, then return-n, each with its figure."""
    found, sentence = completeness([block(), block("b#chunk-0")], drops, summary)
    assert found.value == hint
    assert says in sentence


@pytest.mark.parametrize("reason", [DropReason.BELOW_FLOOR, DropReason.DUPLICATE])
def test_R54_what_was_no_evidence_is_not_missing(reason: DropReason) -> None:
    """Duplicates and candidates below the floor leave the answer complete."""
    found, _ = completeness([block()], [Drop("x", reason, 2)], WHOLE)
    assert found is CompletenessHint.COMPLETE


def test_R54_without_blocks_there_is_nothing_to_be_complete() -> None:
    """No evidence has the hint none, whatever was dropped."""
    found, sentence = completeness([], [CAP], WHOLE)
    assert found is CompletenessHint.NONE
    assert sentence == "There is no evidence to be complete."
