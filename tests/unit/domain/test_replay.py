"""A record beside a second run of its query; which records can be run again."""

from collections.abc import Sequence

import pytest
from attrs import evolve

from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.path_try import TraceError
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.record_limits import within_limit
from evidence_lookup.domain.replay import (
    MovedKey,
    RankedKey,
    ReplayedLookup,
    ReplayOutcome,
    SkipReason,
    replayed,
    skip_reason,
)
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.domain.trace import RECORD_PATH, FallbackReason, QueryCut
from evidence_lookup.testing import samples

DOWN = TraceError("connection", "refused")


def run(
    before: Sequence[str],
    after: Sequence[str],
    *,
    statuses: tuple[EvidenceStatus, EvidenceStatus] = (EvidenceStatus.FOUND, EvidenceStatus.FOUND),
    fallbacks: tuple[FallbackReason | None, FallbackReason | None] = (None, None),
) -> ReplayedLookup:
    """A lookup with the evidence keys *before*, run again with those *after*."""
    then, now = (
        evolve(
            samples.result(blocks=[samples.block(key) for key in keys], fallback_reason=fallback),
            evidence_status=status,
        )
        for keys, status, fallback in zip((before, after), statuses, fallbacks, strict=True)
    )
    error = DOWN if statuses[1] is EvidenceStatus.UNAVAILABLE else None
    return replayed(samples.invocation(of=then), now, mode=SearchMode.DENSE, error=error)


def test_equal_keys_in_equal_order_are_the_same() -> None:
    """Nothing appeared, vanished or moved, however long it took."""
    one = run("abc", "abc")
    assert one.outcome is ReplayOutcome.SAME
    assert (one.appeared, one.vanished, one.moved) == ((), (), ())


def test_keys_are_told_with_their_ranks() -> None:
    """What is new by its new rank, what is gone by its old one, what moved by both."""
    one = run("abcd", "axdc")
    assert one.outcome is ReplayOutcome.CHANGED
    assert one.appeared == (RankedKey("x", 2),)
    assert one.vanished == (RankedKey("b", 2),)
    assert one.moved == (MovedKey("c", 3, 4), MovedKey("d", 4, 3))


def test_another_status_or_fallback_is_a_change_though_the_keys_are_equal() -> None:
    """A reader sees the status, and the fallback says that the hints stopped working."""
    found, low = EvidenceStatus.FOUND, EvidenceStatus.LOW_RELEVANCE
    assert run("a", "a", statuses=(found, low)).outcome is ReplayOutcome.CHANGED
    fallbacks = (None, FallbackReason.NO_EVIDENCE)
    assert run("a", "a", fallbacks=fallbacks).outcome is ReplayOutcome.CHANGED


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ("found", "unavailable", ReplayOutcome.FAILED),
        ("no_evidence", "unavailable", ReplayOutcome.FAILED),
        ("unavailable", "found", ReplayOutcome.RECOVERED),
        ("unavailable", "unavailable", ReplayOutcome.STILL_UNAVAILABLE),
    ],
)
def test_without_an_answer_on_both_sides_no_key_appears_or_vanishes(
    before: str, after: str, outcome: ReplayOutcome
) -> None:
    """An outage says nothing about the evidence; the outcome says on which side it was."""
    keys = {"found": "ab"}
    statuses = (EvidenceStatus(before), EvidenceStatus(after))
    one = run(keys.get(before, ""), keys.get(after, ""), statuses=statuses)
    assert one.outcome is outcome
    assert (one.appeared, one.vanished, one.moved) == ((), (), ())
    assert one.error == (DOWN if after == "unavailable" else None)


def with_transform(
    *, scope: tuple[str, ...] = (), cuts: tuple[QueryCut, ...] = (), redacted: bool = False
) -> ToolInvocation:
    """A record whose query transform has these values."""
    record = samples.invocation()
    details = record.retrieval_details
    transform = evolve(details.query_transform, scope=scope, cuts=cuts, redacted=redacted)
    return evolve(record, retrieval_details=evolve(details, query_transform=transform))


def test_a_record_that_does_not_hold_its_query_cannot_be_run() -> None:
    """Redacted, or cut to what a record keeps; a cut for one path leaves the record whole."""
    assert skip_reason(with_transform(), ()) is None
    assert skip_reason(with_transform(redacted=True), ()) is SkipReason.REDACTED
    cut = (QueryCut(RECORD_PATH, 5_000, 2_000),)
    assert skip_reason(with_transform(cuts=cut), ()) is SkipReason.QUERY_CUT
    assert skip_reason(with_transform(cuts=(QueryCut("keyword", 500, 200),)), ()) is None


def test_a_record_that_was_shortened_cannot_be_compared() -> None:
    """Its evidence may not be all there, which would look like a change."""
    keys = [f"d{n}#chunk-0" for n in range(60)]
    result = samples.result(blocks=[samples.block(key) for key in keys])
    whole = samples.invocation(of=result)
    shortened = within_limit(whole, 1_000, lambda one: len(repr(one.retrieval_details)) // 40)
    assert shortened != whole
    assert skip_reason(whole, ("tenant",)) is None
    assert skip_reason(shortened, ("tenant",)) is SkipReason.RECORD_SHORTENED


def test_a_shortened_record_is_run_if_its_query_and_evidence_are_whole() -> None:
    """Previews and drops are not compared; a query that had to be cut is not the one asked."""
    keys = [f"d{n}#chunk-0" for n in range(5)]
    whole = samples.invocation(of=samples.result(blocks=[samples.block(key) for key in keys]))
    for query, reason in (("why?", None), ("why " * 400, SkipReason.QUERY_CUT)):
        transform = evolve(whole.retrieval_details.query_transform, query=query)
        details = evolve(whole.retrieval_details, query_transform=transform)
        record = evolve(whole, query=query, retrieval_details=details)

        def size_of(one: ToolInvocation) -> int:
            few = len(one.query) < 1_200 and not one.retrieval_details.evidence_blocks[0].preview
            return 1 if few else 2

        shortened = within_limit(record, 1, size_of)
        assert "record_shortened" in shortened.retrieval_details.retrieval_trace.warnings[-1]
        assert skip_reason(shortened, ("tenant",)) is reason


@pytest.mark.parametrize(
    ("recorded", "given", "reason"),
    [
        (("tenant",), ("tenant",), None),
        (("category", "tenant"), ("tenant", "category"), None),
        (("tenant",), (), SkipReason.SCOPE_NEEDED),
        (("category", "tenant"), ("tenant",), SkipReason.SCOPE_NEEDED),
        ((), ("tenant",), SkipReason.SCOPE_NOT_RECORDED),
    ],
)
def test_a_scope_must_name_exactly_what_the_record_names(
    recorded: tuple[str, ...], given: tuple[str, ...], reason: SkipReason | None
) -> None:
    """Values are not recorded: a wider or narrower search would not be the same lookup."""
    assert skip_reason(with_transform(scope=recorded), given) is reason
