"""Answers checked against records (R39): what a preview settles, and what is asked again."""

import pytest
from attrs import evolve

from evidence_lookup.adapters.memory.traces import MemoryTraces
from evidence_lookup.application.answer_check import AnswerCheck
from evidence_lookup.domain.errors import UnknownSessionError
from evidence_lookup.domain.evidence import EvidenceBlock
from evidence_lookup.domain.evidence_guard import GuardReport, QuoteFinding, QuoteState
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.testing import samples

LONG = "Sentinel promotes a replica after thirty seconds. " * 4 + "Then page the manager on duty."
KEY, OTHER = "guide#chunk-0", "manual#chunk-2"
NARROWED = {"tenant": "acme"}


class Asked:
    """Answers every query with *blocks*; keeps what was asked."""

    def __init__(
        self, *blocks: EvidenceBlock, status: EvidenceStatus = EvidenceStatus.FOUND
    ) -> None:
        self._result = evolve(samples.result(blocks=blocks), evidence_status=status)
        self.queries: list[tuple[str, Scope, SearchMode | None]] = []

    async def __call__(self, query: str, scope: Scope, mode: SearchMode | None) -> LookupResult:
        self.queries.append((query, scope, mode))
        return self._result


def record(number: int, *blocks: EvidenceBlock, query: str = "redis?") -> ToolInvocation:
    """The record of a lookup of session s that returned *blocks*, narrowed by tenant."""
    result = samples.result(query, invocation_id=f"0195-{number}", blocks=blocks)
    return samples.invocation(session_id="s", of=result)


async def check(
    answer: str,
    asked: Asked,
    *records: ToolInvocation,
    scope: Scope | None = None,
    required_scope: tuple[str, ...] = (),
) -> GuardReport:
    """The report on *answer* against *records*."""
    traces = MemoryTraces()
    await traces.record(records)
    use_case = AnswerCheck(traces, asked, required_scope)
    return await use_case.check(
        answer, session_id="s", scope=Scope(NARROWED) if scope is None else scope
    )


def only_quote(report: GuardReport) -> QuoteFinding:
    """The one quote of *report*."""
    ((quote,),) = (one.quotes for one in report.findings)
    return quote


async def test_R39_what_the_preview_settles_is_not_asked_again() -> None:
    """References need no content, and a quote from the beginning of an excerpt none either."""
    asked = Asked()
    answer = f'"Sentinel promotes a replica" [{KEY}], [nobody#chunk-1], [{OTHER}].'
    blocks = (samples.block(KEY, LONG), samples.block(OTHER))
    report = await check(answer, asked, record(1, *blocks))
    assert (report.cited_keys, report.unknown_ids) == ((KEY, OTHER), ("nobody#chunk-1",))
    assert report.findings[0].quote_state is QuoteState.FOUND
    assert asked.queries == []
    assert not report.records_incomplete


async def test_R39_a_quote_beyond_the_preview_is_settled_by_asking_again() -> None:
    """Each distinct query once, in its own mode and within the scope; the hash proves the text."""
    asked = Asked(samples.block(KEY, LONG))
    records = (
        record(1, samples.block(KEY, LONG)),
        record(2, samples.block(KEY, LONG)),
        record(3, samples.block(OTHER, LONG), query="another"),
    )
    found = await check(f'"page the manager on duty" [{KEY}].', asked, *records)
    assert only_quote(found).state is QuoteState.FOUND
    assert asked.queries == [("redis?", Scope(NARROWED), SearchMode.HYBRID)]
    wrong = await check(f'"page the director on duty" [{KEY}].', asked, *records)
    assert (only_quote(wrong).state, wrong.ok) == (QuoteState.NOT_FOUND, False)


async def test_R39_an_excerpt_that_changed_proves_nothing() -> None:
    """The chunk comes back with another text, or not at all: unchecked, and no failure."""
    changed = LONG.replace("thirty", "forty")
    for asked in (Asked(samples.block(KEY, changed)), Asked(), Asked(samples.block(OTHER, LONG))):
        report = await check(
            f'"page the manager on duty" [{KEY}].', asked, record(1, samples.block(KEY, LONG))
        )
        quote = only_quote(report)
        assert (quote.state, quote.reason) == (QuoteState.UNCHECKED, "excerpt_changed")
        assert report.ok
        assert report.quote_counts["quote_unchecked"] == 1


async def test_R39_one_excerpt_of_two_contents_may_be_had_back() -> None:
    """The chunk was returned before and after a change; only the newer one comes back."""
    new = LONG.replace("manager", "director")
    records = (
        record(1, samples.block(KEY, LONG)),
        record(2, samples.block(KEY, new), query="later"),
    )
    asked = Asked(samples.block(KEY, new))
    found = await check(f'"page the director on duty" [{KEY}].', asked, *records)
    assert only_quote(found).state is QuoteState.FOUND
    open_question = await check(f'"page the manager on duty" [{KEY}].', asked, *records)
    assert only_quote(open_question).state is QuoteState.UNCHECKED


async def test_R39_the_reason_is_told_where_nothing_can_be_asked() -> None:
    """Another scope, a redacted query, an old record, a backend that is down."""
    one = record(1, samples.block(KEY, LONG))
    details = one.retrieval_details
    redacted = evolve(
        one,
        retrieval_details=evolve(
            details, query_transform=evolve(details.query_transform, redacted=True)
        ),
    )
    old = evolve(
        one,
        retrieval_details=evolve(
            details,
            evidence_blocks=tuple(
                evolve(each, content_hash=None) for each in details.evidence_blocks
            ),
        ),
    )
    down = Asked(status=EvidenceStatus.UNAVAILABLE)
    there = Asked(samples.block(KEY, LONG))
    for given, asked, scope, reason in (
        (one, there, Scope(), "scope_needed"),
        (redacted, there, None, "redacted"),
        (old, there, None, "no_hash"),
        (one, down, None, "unavailable"),
    ):
        report = await check(f'"page the manager on duty" [{KEY}].', asked, given, scope=scope)
        assert only_quote(report).reason == reason


async def test_R39_a_scope_that_is_required_since_is_no_failure_of_the_check() -> None:
    """A record from before names no such value: it is not asked again, and the report says why."""
    one = record(1, samples.block(KEY, LONG))
    asked = Asked(samples.block(KEY, LONG))
    answer = f'"page the manager on duty" [{KEY}].'
    report = await check(answer, asked, one, required_scope=("tenant", "team"))
    assert only_quote(report).reason == "scope_needed"
    assert asked.queries == []


async def test_R39_a_backend_that_is_down_is_not_asked_query_by_query() -> None:
    """After three in a row the rest is unchecked too: of one that hangs each takes a deadline."""
    records = [record(n, samples.block(KEY, LONG + str(n)), query=f"q{n}") for n in range(9)]
    down = Asked(status=EvidenceStatus.UNAVAILABLE)
    report = await check(f'"page the manager on duty" [{KEY}].', down, *records)
    assert only_quote(report).reason == "unavailable"
    assert len(down.queries) == 3


async def test_records_that_lack_blocks_are_told() -> None:
    """An id that a shortened record has lost would look unknown."""
    whole = record(1, samples.block(KEY), samples.block(OTHER))
    details = whole.retrieval_details
    short = evolve(
        whole, retrieval_details=evolve(details, evidence_blocks=details.evidence_blocks[:1])
    )
    report = await check(f"[{OTHER}]", Asked(), short)
    assert (report.unknown_ids, report.records_incomplete) == ((OTHER,), True)


async def test_a_session_without_a_record_is_an_error_that_names_it() -> None:
    """Rather than a report that calls every reference unknown."""
    traces = MemoryTraces()
    await traces.record((record(1, samples.block(KEY)),))
    with pytest.raises(UnknownSessionError, match="'other'") as caught:
        await AnswerCheck(traces, Asked()).check("x", session_id="other")
    assert caught.value.session_id == "other"
