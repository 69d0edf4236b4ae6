"""What a host lets be recorded of a query."""

import logging
import re
from typing import cast

import pytest
from tests.unit.application.bench import REDIS, bench, hit
from tests.unit.application.fakes import Step, found

from evidence_lookup.adapters.json_values import dumps
from evidence_lookup.application.redaction import REDACTION_FAILED, Redaction
from evidence_lookup.domain.errors import BackendUnavailableError, trace_error
from evidence_lookup.domain.path_try import PathTry, TraceError
from evidence_lookup.domain.record import with_sidecar
from evidence_lookup.domain.sidecar import SidecarReport, SidecarStatus

SECRET = "4111-1111-1111-1111"


def without_digits(query: str) -> str:
    """A host's function."""
    return re.sub(r"\d", "#", query)


async def test_the_record_holds_what_the_host_lets_through() -> None:
    """The query stands nowhere in the record, and the record says that it was redacted."""
    one = bench(found(hit()), redact=Redaction(without_digits))
    result = await one.ask(f"card {SECRET} is refused")
    assert result.query == f"card {SECRET} is refused"
    record = one.record
    assert record.query == "card ####-####-####-#### is refused"
    assert record.retrieval_details.query_transform.redacted
    assert "1111" not in dumps(record)


async def test_the_whole_query_is_redacted_before_it_is_cut() -> None:
    """What the limit of a recorded query would cut in two is still seen whole by the host."""
    asked: list[str] = []

    def note(query: str) -> str:
        asked.append(query)
        return query

    one = bench(found(hit()), redact=Redaction(note))
    query = "word " * 600
    await one.ask(query)
    assert asked == [query]
    record = one.record
    assert len(record.query) <= 2_000
    assert not record.retrieval_details.query_transform.redacted


async def test_no_message_of_an_error_brings_the_query_back() -> None:
    """Backend, catalogue and paths repeat it in what they raise: the record keeps the kinds."""
    down = BackendUnavailableError(f"no answer to {SECRET}")
    down.tries = (PathTry("sdk", trace_error(down)),)
    one = bench(Step(error=down), entries=(REDIS,), redact=Redaction(without_digits))
    one.catalogue.step = Step(error=ValueError(SECRET))
    await one.ask(SECRET)
    told = with_sidecar(
        one.record, SidecarReport(SidecarStatus.FAILED, "sdk", TraceError("failed", SECRET))
    )
    trace = told.retrieval_details.retrieval_trace
    (attempt,) = trace.attempts
    errors = [attempt.error, *(each.error for each in attempt.tries)]
    assert [each.kind for each in errors if each] == ["connection", "connection"]
    assert trace.warnings == ("hints_unavailable",)
    assert trace.sidecar is not None
    assert trace.sidecar.error is not None
    assert trace.sidecar.error.kind == "failed"
    assert "1111" not in dumps(told)


@pytest.mark.parametrize("answer", [ValueError(SECRET), None, 7])
async def test_a_redaction_that_fails_records_no_query(
    answer: object, caplog: pytest.LogCaptureFixture
) -> None:
    """An exception, or no text, leaves the query out of record and log, and the answer stands."""

    def fail(_: str) -> str:
        if isinstance(answer, Exception):
            raise answer
        return cast("str", answer)

    one = bench(found(hit()), redact=Redaction(fail))
    with caplog.at_level(logging.WARNING):
        result, error = await one.lookup.lookup(SECRET)
    assert (result.found, error) == (True, None)
    record = one.record
    assert record.query == REDACTION_FAILED
    assert "trace.redact failed" in caplog.text
    assert SECRET not in caplog.text + dumps(record)


async def test_a_redaction_may_return_odd_text() -> None:
    """Its controls and lone surrogates are replaced visibly, as those of a query are."""
    one = bench(found(hit()), redact=Redaction(lambda _: "a\0b\ud800"))
    await one.ask("what")
    record = one.record
    assert record.query == "a\ufffdb\ufffd"
