"""Backends that fail, hang or are not there: a status of its own, never "nothing found"."""

import anyio
import pytest
from attrs import evolve
from tests.unit.application.bench import REDIS, RULES, Bench, bench, hit
from tests.unit.application.fakes import CAPABILITIES, HANG, NOTHING, Step, found

from evidence_lookup.domain.errors import (
    BackendFailedError,
    BackendTimeoutError,
    BackendUnavailableError,
    CollectionMissingError,
    DimensionMismatchError,
    EvidenceLookupError,
    ScopeError,
)

SHORT = evolve(RULES, deadline_seconds=0.5)


@pytest.mark.parametrize(
    ("raised", "kind", "mapped"),
    [
        (ConnectionError("refused"), "connection", BackendUnavailableError),
        (OSError("no route"), "connection", BackendUnavailableError),
        (TimeoutError("10 s"), "timeout", BackendTimeoutError),
        (KeyError("vector"), "failed", BackendFailedError),
        (CollectionMissingError("no 'knowledge'"), "collection_missing", CollectionMissingError),
    ],
)
async def test_R30_C68_a_port_that_raises_is_unavailable(
    raised: Exception, kind: str, mapped: type[EvidenceLookupError]
) -> None:
    """Whatever the port raises comes out typed, beside a result that is unavailable."""
    one = bench(Step(error=raised))
    result, error = await one.lookup.lookup("redis")
    assert (result.found, result.evidence_status) == (False, "unavailable")
    assert result.retrieval_trace.reason == kind
    assert error is not None
    assert type(error) is mapped
    assert raised in (error, error.__cause__)
    attempt = result.retrieval_trace.attempts[0]
    assert attempt.error is not None
    assert attempt.error.kind == kind
    assert str(error) in result.message
    assert one.record.evidence_status == "unavailable"


async def test_C67_a_missing_collection_is_not_the_same_as_no_evidence() -> None:
    """An unknown collection is unavailable with its kind; a nonsense query is no evidence."""
    missing = bench()
    missing.search.probes = [Step(error=CollectionMissingError("no collection 'x'"))]
    result = await missing.ask()
    assert (result.evidence_status, result.retrieval_trace.reason) == (
        "unavailable",
        "collection_missing",
    )
    assert missing.search.requests == []
    nonsense = await bench(found(hit(cosine=0.15))).ask("xyzzy plugh")
    assert (nonsense.evidence_status, nonsense.evidence_blocks) == ("no_evidence", ())
    weak = await bench(found(hit(cosine=0.3))).ask("xyzzy plugh")
    assert (weak.evidence_status, weak.relevance_level) == ("low_relevance", "low")


async def test_R30_an_embedder_that_fails_is_unavailable() -> None:
    """Without a vector nothing is searched, and the failed attempt stands in the trace."""
    one = bench(found(hit()), entries=(REDIS,))
    one.embedder.step = Step(error=ConnectionError("model server"))
    result = await one.ask("redis")
    assert result.evidence_status == "unavailable"
    assert [attempt.name for attempt in result.retrieval_trace.attempts] == ["filtered"]
    assert one.search.requests == []


async def test_a_mismatch_is_unavailable_and_names_both_sides() -> None:
    """An index of other dimensions is refused before the search."""
    one = bench(found(hit()))
    one.search.capabilities = evolve(CAPABILITIES, dimension=768)
    result, error = await one.lookup.lookup("redis")
    assert result.retrieval_trace.reason == "dimension_mismatch"
    assert isinstance(error, DimensionMismatchError)
    assert (error.expected, error.actual) == (768, 4)


async def test_a_backend_that_comes_back_is_used_again() -> None:
    """After a failed search the next lookup probes anew and answers."""
    one = bench(Step(error=ConnectionError("refused")), found(hit()))
    assert (await one.ask()).evidence_status == "unavailable"
    assert (await one.ask()).evidence_status == "found"
    assert one.log.count("probe") == 2


def hanging_search() -> Bench:
    """Search never answers."""
    return bench(HANG, rules=SHORT)


def hanging_probe() -> Bench:
    """The probe never answers."""
    one = bench(found(hit()), rules=SHORT)
    one.search.probes = [HANG]
    return one


def hanging_embedder() -> Bench:
    """The embedder never answers."""
    one = bench(found(hit()), rules=SHORT)
    one.embedder.step = HANG
    return one


@pytest.mark.parametrize("one", [hanging_search(), hanging_probe(), hanging_embedder()])
async def test_a_part_that_hangs_ends_at_the_deadline(one: Bench) -> None:
    """The answer comes at the deadline: unavailable, for want of time."""
    with anyio.fail_after(10):
        result, error = await one.lookup.lookup("redis")
    assert (result.evidence_status, result.retrieval_trace.reason) == ("unavailable", "timeout")
    assert isinstance(error, BackendTimeoutError)
    assert "rag.deadline-seconds" in str(error)
    assert len(one.recorder.records) == 1


@pytest.mark.parametrize("second", [HANG, Step(error=ConnectionError("refused"))])
async def test_a_second_attempt_that_fails_leaves_the_first_ones_evidence(second: Step) -> None:
    """Weak evidence of the first attempt stands; the second one's error is in the trace."""
    one = bench(found(hit("weak", cosine=0.3)), second, entries=(REDIS,), rules=SHORT)
    result, error = await one.lookup.lookup("redis")
    assert error is None
    assert [block.doc_id for block in result.evidence_blocks] == ["weak"]
    assert result.evidence_status == "low_relevance"
    first, failed = result.retrieval_trace.attempts
    assert (first.error, result.retrieval_trace.selected_attempt) == (None, "filtered")
    assert failed.error is not None


async def test_C68_a_second_attempt_that_fails_after_nothing_is_not_no_evidence() -> None:
    """Nothing found narrowly and an error widely: nobody knows, so it is unavailable."""
    one = bench(NOTHING, Step(error=ConnectionError("refused")), entries=(REDIS,))
    result = await one.ask("redis")
    assert (result.evidence_status, result.retrieval_trace.reason) == ("unavailable", "connection")
    assert result.retrieval_trace.fallback_reason == "filtered_vector_no_evidence"


async def test_a_first_attempt_that_fails_is_not_repeated() -> None:
    """A backend's error is no reason to drop the filter."""
    one = bench(Step(error=ConnectionError("refused")), found(hit()), entries=(REDIS,))
    assert (await one.ask("redis")).evidence_status == "unavailable"
    assert len(one.search.requests) == 1


async def test_a_store_that_cannot_keep_the_hints_filter_is_asked_without_it() -> None:
    """The hints' filter may be dropped, a host's scope may not: then it stays unavailable."""
    refused = Step(error=ScopeError("this store cannot filter"))
    one = bench(refused, found(hit()), entries=(REDIS,))
    result = await one.ask("redis")
    assert result.evidence_status == "found"
    assert result.retrieval_trace.filter_relaxed
    assert [attempt.error is None for attempt in result.retrieval_trace.attempts] == [False, True]
    two = bench(refused, refused, entries=(REDIS,))
    result = await two.ask("redis")
    assert (result.evidence_status, result.retrieval_trace.reason) == ("unavailable", "scope")


async def test_an_endless_error_message_is_bounded_and_in_one_line() -> None:
    """Trace and message hold the beginning of what a driver says, fit to be stored anywhere."""
    one = bench(Step(error=RuntimeError("first line\nsecond \ud800 line\x00" + "x" * 1_000_000)))
    result = await one.ask()
    attempt = result.retrieval_trace.attempts[0]
    assert attempt.error is not None
    for text in (attempt.error.message, result.message):
        assert "first line second" in text
        assert len(text) < 1_200
        text.encode()
    one = bench(found(hit()))
    one.catalogue.step = Step(error=RuntimeError("line\n" * 100_000))
    (warning,) = (await one.ask()).retrieval_trace.warnings
    assert len(warning) < 1_200
    assert "\n" not in warning


async def test_cancellation_goes_through() -> None:
    """A caller that gives up is obeyed at once: no answer, no record, no error of this library."""
    one = bench(HANG)
    with anyio.move_on_after(0.05) as scope:
        await one.ask()
    assert scope.cancelled_caught
    assert one.search.running == 0
    assert one.recorder.records == []
    assert one.recording.lost == 0
