"""The order of the components, and the record that they end in."""

from itertools import groupby

import anyio
import pytest
from attrs import asdict, evolve, fields
from tests.unit.application.bench import REDIS, RULES, Bench, bench, hit
from tests.unit.application.fakes import HANG, NOTHING, Step, found

from evidence_lookup.application.lookup_rules import LookupRules
from evidence_lookup.application.stage_times import STAGES
from evidence_lookup.domain.record import RetrievalDetails
from evidence_lookup.domain.sidecar import NO_SIDECAR


async def test_R44_the_components_run_in_their_order() -> None:
    """Transform, retrieve, pack, record: each asks its port when its turn comes."""
    one = bench(found(hit()), entries=(REDIS,))
    await one.ask("redis")
    order = [line for line, _ in groupby(one.log.lines)]
    assert order == ["revision", "entries", "probe", "embed", "search", "pack", "record"]


async def test_R44_each_stage_has_its_time() -> None:
    """The stages stand in the trace in the order in which they were entered, and a total."""
    one = bench(NOTHING, entries=(REDIS,))
    timings = (await one.ask("redis")).retrieval_trace.timings
    assert tuple(timings) == STAGES
    assert timings["total"] >= sum(timings.values()) - timings["total"]
    assert one.record.timings == timings
    assert one.record.duration_seconds >= timings["total"]


@pytest.mark.parametrize(
    ("query", "rules", "failing", "stages"),
    [
        (" ", RULES, None, ["total"]),
        ("redis", evolve(RULES, l1_enabled=False), None, ["transform", "total"]),
        ("redis", RULES, "probe", ["transform", "probe", "pack", "assemble", "total"]),
        ("redis", RULES, "embed", ["transform", "probe", "embed", "pack", "assemble", "total"]),
        ("redis", RULES, "search", [one for one in STAGES if one != "post_process"]),
    ],
    ids=["empty", "l1-disabled", "probe-fails", "embed-fails", "search-fails"],
)
async def test_R44_a_record_has_every_stage_that_ran_and_no_other(
    query: str, rules: LookupRules, failing: str | None, stages: list[str]
) -> None:
    """Also of a lookup that ended early, the stage that failed included; they make up the total."""
    down = Step(error=ConnectionError("down"))
    one = bench(down if failing == "search" else found(hit()), rules=rules)
    one.embedder.step = down if failing == "embed" else NOTHING
    one.search.probes = [down if failing == "probe" else NOTHING]
    await one.ask(query)
    timings = one.record.timings
    assert list(timings) == stages
    assert timings["total"] >= sum(timings.values()) - timings["total"]
    assert (one.record.evidence_status == "unavailable") is (failing is not None)


async def test_R45_the_record_holds_every_part_under_its_name() -> None:
    """The details have exactly the documented keys, filled from the run itself."""
    one = bench(found(hit("a", title="A", source="a.md"), hit("b")), entries=(REDIS,))
    result, _ = await one.lookup.lookup("redis", session_id="s-1")
    names = {attribute.name for attribute in fields(RetrievalDetails)}
    assert names == {
        "query_transform",
        "retrieval_trace",
        "context_pack_summary",
        "rerank_trace",
        "evidence_blocks",
        "fallback_reason",
    }
    record, details = one.record, one.record.retrieval_details
    assert (record.id, record.session_id) == (result.invocation_id, "s-1")
    assert (record.tool_name, record.query) == ("lookup_knowledge", "redis")
    assert (record.candidate_count, record.block_count) == (2, 2)
    assert record.created_at.utcoffset() is not None
    assert details.query_transform == result.query_transform
    assert details.retrieval_trace == evolve(result.retrieval_trace, sidecar=NO_SIDECAR)
    assert details.context_pack_summary == result.context_pack.summary
    assert details.rerank_trace == result.rerank_trace
    assert [one.evidence_key for one in details.evidence_blocks] == ["a#chunk-0", "b#chunk-0"]


async def test_R46_the_record_holds_a_preview_and_no_content() -> None:
    """Of content at most 120 characters are recorded; source, title, score and reasons whole."""
    content = "".join(f"secret{n} " for n in range(300))
    one = bench(found(evolve(hit("a", title="A", source="a.md"), content=content)))
    await one.ask()
    (summary,) = one.record.retrieval_details.evidence_blocks
    assert len(summary.preview) <= 120
    assert (summary.source, summary.title, summary.similarity) == ("a.md", "A", 0.9)
    assert (summary.content_length, summary.retrieval_layer) == (len(content), "L1")
    assert "secret100" not in repr(asdict(one.record))


async def test_R45_the_values_of_a_scope_are_not_recorded() -> None:
    """The record names what the host filtered by, never the values."""
    one = bench(found(hit()))
    await one.ask("redis", tenant="acme-confidential")
    assert one.record.retrieval_details.query_transform.scope == ("tenant",)
    assert "acme-confidential" not in repr(one.record)


async def test_R47_an_unfiltered_retry_is_recorded_with_its_reason() -> None:
    """The record names the selected attempt and keeps why there was a second one."""
    one = bench(NOTHING, found(hit()), entries=(REDIS,))
    await one.ask("redis")
    details = one.record.retrieval_details
    assert details.retrieval_trace.selected_attempt == "unfiltered"
    assert details.fallback_reason == "filtered_vector_no_evidence"


async def test_R48_no_evidence_is_recorded_with_the_attempted_paths() -> None:
    """Both attempts stand in the record of a lookup that found nothing."""
    one = bench(NOTHING, entries=(REDIS,))
    await one.ask("redis")
    attempts = one.record.retrieval_details.retrieval_trace.attempts
    assert [(attempt.name, attempt.path) for attempt in attempts] == [
        ("filtered", "fake"),
        ("unfiltered", "fake"),
    ]
    assert one.record.retrieval_details.evidence_blocks == ()


@pytest.mark.parametrize(
    "step", [Step(error=ConnectionError("down")), Step(error=KeyError()), HANG]
)
async def test_R49_a_trace_store_that_fails_or_hangs_harms_no_answer(
    step: Step, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer comes all the same and in time; the lost record is counted and logged."""
    one = bench(found(hit()))
    one.recorder.step = step
    with anyio.fail_after(1):
        result = await one.ask()
        await one.ask()
        await one.recording.aclose(timeout_seconds=0.05)
    assert result.evidence_status == "found"
    assert one.recording.lost == 2
    assert result.invocation_id in caplog.text
    assert "is lost (2 so far)" in caplog.text


async def test_R49_a_record_that_takes_longer_than_an_answer_waits_is_no_lost_one() -> None:
    """The answer goes first, and the record is kept when the recorder has taken it."""
    one = bench(found(hit()))
    one.recorder.step = Step(delay=0.3)
    result = await one.ask()
    assert one.recorder.records == []
    await one.recording.aclose(timeout_seconds=30)
    assert [record.id for record in one.recorder.records] == [result.invocation_id]
    assert one.recording.lost == 0


async def test_R49_a_lookup_that_is_unavailable_is_recorded_too() -> None:
    """Failures are what one looks for in records."""
    one = bench(Step(error=ConnectionError("refused")))
    await one.ask()
    trace = one.record.retrieval_details.retrieval_trace
    assert (one.record.evidence_status, trace.reason) == ("unavailable", "connection")


def with_200_hits() -> Bench:
    """200 candidates of 5 kB each."""
    hits = [evolve(hit(f"d{n}", cosine=0.7), content="x" * 5_000) for n in range(200)]
    return bench(found(*hits), rules=evolve(RULES, retrieve_k=200))


async def test_C71_a_record_of_many_long_candidates_stays_small() -> None:
    """200 candidates of 5 kB are ids, scores and reasons in the record, below 100 kB."""
    one = with_200_hits()
    await one.ask()
    assert one.record.candidate_count == 200
    assert len(repr(asdict(one.record))) < 100_000
