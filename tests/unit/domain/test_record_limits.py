"""A record's limit in bytes, and what gives way first."""

from attrs import evolve
from tests.unit.domain.test_comparison import listed

from evidence_lookup.adapters.json_values import dumps
from evidence_lookup.domain.comparison import compare
from evidence_lookup.domain.path_try import PathTry, TraceError
from evidence_lookup.domain.record import ToolInvocation, with_sidecar
from evidence_lookup.domain.record_limits import SMALLEST_LIMIT, within_limit
from evidence_lookup.domain.selection import Drop, DropReason
from evidence_lookup.domain.sidecar import SidecarReport, SidecarStatus
from evidence_lookup.testing import samples


def size_of(record: ToolInvocation) -> int:
    """Bytes as JSON."""
    return len(dumps(record).encode())


def large_record(blocks: int = 80, drops: int = 400) -> ToolInvocation:
    """A record with a sidecar's comparison, previews, and long lists."""
    found = [samples.block(f"guide-{n}#chunk-0", "文" * 200) for n in range(blocks)]
    lost = [Drop(f"other-{n}#chunk-0", DropReason.RETURN_N, blocks + n) for n in range(drops)]
    record = samples.invocation(of=samples.result("why " * 400, blocks=found, drops=lost))
    comparison = compare(listed("ab"), listed("bc"), k=2)
    return with_sidecar(
        record, SidecarReport(SidecarStatus.OK, "vectorstore", comparison=comparison)
    )


def note(record: ToolInvocation) -> str:
    """The last warning."""
    return record.retrieval_details.retrieval_trace.warnings[-1]


def test_a_record_within_the_limit_is_left_alone() -> None:
    """Nothing is shortened that fits, to the byte."""
    record = large_record()
    assert within_limit(record, size_of(record), size_of) is record


def test_what_is_needed_least_goes_first() -> None:
    """The comparison goes, then the previews, then long lists, and no more than has to."""
    record = large_record()
    details = record.retrieval_details
    without_comparison = within_limit(record, size_of(record) - 1, size_of)
    assert note(without_comparison) == "record_shortened: without the sidecar's comparison"
    sidecar = without_comparison.retrieval_details.retrieval_trace.sidecar
    assert sidecar is not None
    assert (sidecar.status, sidecar.comparison) == ("ok", None)
    assert without_comparison.retrieval_details.evidence_blocks == details.evidence_blocks

    without_previews = within_limit(record, size_of(without_comparison) - 1, size_of)
    assert note(without_previews).endswith("comparison, previews")
    blocks = without_previews.retrieval_details.evidence_blocks
    assert {one.preview for one in blocks} == {""}
    assert [one.evidence_key for one in blocks] == [
        one.evidence_key for one in details.evidence_blocks
    ]
    few = within_limit(record, size_of(without_previews) - 1, size_of)
    assert len(few.retrieval_details.evidence_blocks) == 50
    assert len(few.retrieval_details.retrieval_trace.drops) == 50
    assert few.query == record.query


def test_what_was_not_there_is_not_told_as_gone() -> None:
    """A lookup without a sidecar has lost no comparison."""
    record = samples.invocation(of=samples.result(blocks=[samples.block("a#chunk-0", "文" * 200)]))
    shortened = within_limit(record, size_of(record) - 1, size_of)
    assert note(shortened) == "record_shortened: without previews"


def test_the_counts_tell_of_what_is_gone() -> None:
    """The shortest form keeps names, counts, status and timings."""
    record = large_record()
    bare = within_limit(record, SMALLEST_LIMIT // 4, size_of)
    assert note(bare).endswith("lists")
    assert (bare.id, bare.evidence_status, bare.timings) == (
        record.id,
        record.evidence_status,
        record.timings,
    )
    trace = bare.retrieval_details.retrieval_trace
    assert (trace.candidate_count, trace.block_count) == (480, 80)
    assert [one.name for one in trace.attempts] == ["filtered"]


def test_C71_a_trace_never_grows_beyond_its_limit() -> None:
    """200 candidates with very long ids, a long session and many warnings still fit."""
    long = "文件" * 2_000
    lost = [Drop(f"{long}{n}#chunk-0", DropReason.RETURN_N, n) for n in range(1, 200)]
    block = evolve(samples.block(), evidence_key=f"{long}#chunk-0", source=long, title=long)
    record = samples.invocation(
        session_id=long, of=samples.result(long, blocks=[block], drops=lost)
    )
    trace = evolve(record.retrieval_details.retrieval_trace, warnings=(long,) * 200)
    record = evolve(
        record, retrieval_details=evolve(record.retrieval_details, retrieval_trace=trace)
    )
    assert size_of(record) > 1_000_000
    for limit in (SMALLEST_LIMIT, 65_536):
        assert size_of(within_limit(record, limit, size_of)) <= limit


def test_the_shortest_form_fits_whatever_the_texts_are() -> None:
    """Characters of four bytes in every text of a lookup that failed twice on two paths."""
    text = "😀" * 2_000
    failed = TraceError("failed", text)
    tries = (PathTry("vectorstore", failed), PathTry("milvus", failed))
    record = samples.invocation(session_id=text, of=samples.result(text, blocks=()))
    details = record.retrieval_details
    (attempt,) = details.retrieval_trace.attempts
    attempt = evolve(attempt, hint_filter=text, error=failed, tries=tries)
    scope = tuple(f"{'n' * 60}{number}" for number in range(100))
    record = evolve(
        record,
        retrieval_details=evolve(
            details,
            query_transform=evolve(details.query_transform, hint_filter=text, scope=scope),
            retrieval_trace=evolve(details.retrieval_trace, attempts=(attempt, attempt)),
        ),
    )
    assert size_of(within_limit(record, SMALLEST_LIMIT, size_of)) <= SMALLEST_LIMIT
