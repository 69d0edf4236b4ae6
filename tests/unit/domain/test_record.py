"""The record of a lookup (R45 to R48)."""

from datetime import UTC, datetime
from hashlib import sha256

from attrs import asdict, evolve, fields
from tests.unit.domain.samples import block, hit, ranked, result

from evidence_lookup.adapters.json_values import from_json, to_json
from evidence_lookup.domain.candidate import candidates_from
from evidence_lookup.domain.comparison import ComparedPath, compare
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.pack import pack
from evidence_lookup.domain.record import (
    EvidenceSummary,
    RetrievalDetails,
    ToolInvocation,
    tool_invocation,
    with_sidecar,
)
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.sidecar import NO_SIDECAR, SidecarReport, SidecarStatus
from evidence_lookup.domain.text import estimate_tokens
from evidence_lookup.domain.trace import FallbackReason, RetrievalTrace

NOW = datetime(2026, 8, 1, 12, tzinfo=UTC)


def record(answer: LookupResult) -> ToolInvocation:
    """The record of *answer*."""
    return tool_invocation(answer, session_id="s", created_at=NOW, duration_seconds=0.25)


def test_R45_the_details_have_the_names_of_the_contract() -> None:
    """The keys of `retrieval_details` are spelled exactly so."""
    assert [field.name for field in fields(RetrievalDetails)] == [
        "query_transform",
        "retrieval_trace",
        "context_pack_summary",
        "rerank_trace",
        "evidence_blocks",
        "fallback_reason",
    ]


def test_R45_the_record_holds_what_the_result_says_of_itself() -> None:
    """Transform, traces and summary are the result's own; the row repeats its figures."""
    trace = RetrievalTrace(candidate_count=7, block_count=1, timings={"total": 0.2})
    answer = result(block(), accepted=ranked(hit()), trace=trace)
    made = record(answer)
    details = made.retrieval_details
    assert details.query_transform == answer.query_transform
    assert details.retrieval_trace == evolve(trace, sidecar=NO_SIDECAR)
    assert details.context_pack_summary is answer.context_pack.summary
    assert details.rerank_trace == answer.rerank_trace
    assert len(details.rerank_trace) == 1
    assert (made.id, made.tool_name, made.session_id) == (
        answer.invocation_id,
        "lookup_knowledge",
        "s",
    )
    assert (made.candidate_count, made.block_count, made.timings) == (7, 1, {"total": 0.2})
    assert (made.created_at, made.duration_seconds, made.schema_version) == (NOW, 0.25, 1)
    assert (made.query, made.evidence_status.value) == (answer.query, "found")


def test_R46_a_summary_keeps_all_but_the_content() -> None:
    """Source, title, key, layer, score and reasons stay; the text becomes a short preview."""
    one = block("a#chunk-3", "Line one.\n\n  Line two.  " + "word " * 1_000)
    (summary,) = record(result(one)).retrieval_details.evidence_blocks
    assert summary == EvidenceSummary(
        evidence_key="a#chunk-3",
        source="a.md",
        title="Title",
        retrieval_layer=one.retrieval_layer,
        score=one.score,
        similarity=0.9,
        hit_reasons=("dense:rank 1",),
        content_length=len(one.content),
        preview=summary.preview,
        content_hash=sha256(one.content.encode()).hexdigest(),
    )
    assert summary.preview.startswith("Line one. Line two. word word")
    assert 110 <= len(summary.preview) <= 120


def test_R46_no_full_content_stands_anywhere_in_the_record() -> None:
    """The record stays compact whatever the blocks hold."""
    secret = "word " * 30 + "the end of the content"
    blocks = (block("a#chunk-0", secret), block("b#chunk-0", secret))
    answer = result(*blocks, context_pack=pack(blocks, 1_000, estimate_tokens))
    assert "the end of the content" in answer.context_pack.text
    assert "the end of the content" not in repr(asdict(record(answer)))


def test_R46_summaries_stand_in_the_blocks_order() -> None:
    """The record lists the blocks as the result does."""
    summaries = record(result(block("b#chunk-1"), block("a#chunk-0"))).retrieval_details
    assert [s.evidence_key for s in summaries.evidence_blocks] == ["b#chunk-1", "a#chunk-0"]


def test_R47_the_fallback_reason_and_the_selected_attempt_are_kept() -> None:
    """A retry is told twice: in the trace and beside it."""
    trace = RetrievalTrace(
        selected_attempt="unfiltered", fallback_reason=FallbackReason.LOW_QUALITY
    )
    details = record(result(block(), trace=trace)).retrieval_details
    assert details.retrieval_trace.selected_attempt == "unfiltered"
    assert details.fallback_reason == "filtered_vector_low_quality"
    assert FallbackReason.NO_EVIDENCE.value == "filtered_vector_no_evidence"


def test_R48_no_evidence_is_recorded_with_its_trace() -> None:
    """An empty result has a record with status, trace and no blocks."""
    trace = RetrievalTrace(reason="empty_query")
    made = record(result(trace=trace))
    assert made.evidence_status == "no_evidence"
    assert made.retrieval_details.retrieval_trace == evolve(trace, sidecar=NO_SIDECAR)
    assert made.retrieval_details.evidence_blocks == ()
    assert made.retrieval_details.fallback_reason is None


def test_R56_the_recorded_query_is_bounded() -> None:
    """A pasted log is recorded as its beginning, a short query whole."""
    long = result(query="word " * 10_000)
    assert 1_990 <= len(record(long).query) <= 2_000
    exact = evolve(long, query="x" * 2_000)
    assert record(exact).query == exact.query


def test_R50_a_lookup_without_a_sidecar_says_so_in_its_record() -> None:
    """The status is `disabled`; the result itself, which waits for no sidecar, has none."""
    answer = result(block())
    assert answer.retrieval_trace.sidecar is None
    assert record(answer).retrieval_details.retrieval_trace.sidecar == SidecarReport(
        SidecarStatus.DISABLED
    )


def test_a_record_of_before_there_was_a_sidecar_can_be_read() -> None:
    """The key is missing in old records, and then the report is."""
    made = record(result(block()))
    old = to_json(made)
    del old["retrieval_details"]["retrieval_trace"]["sidecar"]
    read = from_json(ToolInvocation, old)
    assert read.retrieval_details.retrieval_trace.sidecar is None
    assert with_sidecar(read, NO_SIDECAR) == made


def test_R52_C71_the_comparison_in_a_record_stays_small() -> None:
    """Of 400 compared results 40 rows are kept, the figures and keys of all."""
    paths = [
        ComparedPath(
            "milvus",
            SearchMode.DENSE,
            candidates_from([hit(f"{name}{n}", content="word " * 1_000) for n in range(200)]),
        )
        for name in "ab"
    ]
    comparison = compare(*paths, k=200)
    made = with_sidecar(
        record(result(block())), SidecarReport(SidecarStatus.OK, "b", comparison=comparison)
    )
    report = made.retrieval_details.retrieval_trace.sidecar
    assert report is not None
    assert report.comparison is not None
    assert (len(report.comparison.rows), report.comparison.rows_left_out) == (40, 360)
    assert report.comparison.only_other == comparison.only_other
    assert len(repr(asdict(made))) < 100_000
