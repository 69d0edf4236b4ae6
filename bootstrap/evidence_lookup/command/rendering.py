"""Results for people: tables and colour in a terminal, plain text elsewhere."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from rich.table import Table
from rich.text import Text

from evidence_lookup.command.console import Console
from evidence_lookup.command.trace_rendering import show_retrieval
from evidence_lookup.domain.evidence import EvidenceBlock
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.domain.text import cut

if TYPE_CHECKING:
    from evidence_lookup.application.diagnosis import Check
    from evidence_lookup.application.ingest_report import IngestReport

_LISTED_QUERY_LENGTH = 80
_STATUS_STYLE = {
    EvidenceStatus.FOUND: "green",
    EvidenceStatus.LOW_RELEVANCE: "yellow",
    EvidenceStatus.NO_EVIDENCE: "yellow",
    EvidenceStatus.UNAVAILABLE: "red",
}


def print_json(value: object) -> None:
    """*value* as indented JSON on standard output, in UTF-8 whatever the terminal's encoding."""
    import json
    import sys

    from evidence_lookup.adapters.json_values import to_json

    text = json.dumps(to_json(value), ensure_ascii=False, indent=2, allow_nan=False)
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()


def show_result(result: LookupResult) -> None:
    """The status in a line, then each block: id, title, place, why, content."""
    console = Console()
    style = _STATUS_STYLE[result.evidence_status]
    console.print(Text(result.message, style=f"bold {style}"))
    if result.found:
        console.print(
            f"relevance {result.relevance_level}, {result.completeness_hint}: "
            f"{result.completeness_message}",
            style="dim",
            markup=False,
        )
    for rank, block in enumerate(result.evidence_blocks, start=1):
        console.print()
        _show_block(console, rank, block)
    console.print()
    console.print(f"lookup {result.invocation_id}", style="dim", markup=False, soft_wrap=True)


def show_explanation(result: LookupResult) -> None:
    """How the result came about."""
    show_retrieval(
        Console(),
        result.query_transform,
        result.retrieval_trace,
        result.rerank_trace,
        result.context_pack.summary,
        {block.evidence_key: block.similarity for block in result.evidence_blocks},
    )


def show_trace(trace: ToolInvocation) -> None:
    """A recorded lookup, then how its result came about."""
    console = Console()
    console.print(Text(trace.query, style="bold"))
    status = trace.evidence_status
    session = f"  session {trace.session_id}" if trace.session_id else ""
    line = Text.assemble(
        f"{trace.id}  {trace.created_at:%Y-%m-%d %H:%M:%S} UTC  ",
        (status, _STATUS_STYLE[status]),
        f"  {trace.duration_seconds * 1000:.0f} ms{session}",
    )
    console.print(line, soft_wrap=True)
    details = trace.retrieval_details
    show_retrieval(
        console,
        details.query_transform,
        details.retrieval_trace,
        details.rerank_trace,
        details.context_pack_summary,
        {block.evidence_key: block.similarity for block in details.evidence_blocks},
    )


def show_traces(traces: Sequence[ToolInvocation], *, is_narrowed: bool = False) -> None:
    """A line for each recorded lookup, whole whatever the width, so that it can be searched.

    The session, if any, comes last.
    """
    if not traces:
        none = "No recorded lookup is like that." if is_narrowed else "No lookup is recorded yet."
        Console().print(none)
        return
    console = Console()
    for trace in traces:
        status = trace.evidence_status
        line = Text.assemble(
            (trace.id, "bold cyan"),
            f"  {trace.created_at:%Y-%m-%d %H:%M:%S} UTC  ",
            (f"{status:13}", _STATUS_STYLE[status]),
            f"  {trace.block_count:2} blocks  {trace.duration_seconds * 1000:6.0f} ms  ",
            _listed(trace.query),
            (f"  session {_one_line(trace.session_id)}" if trace.session_id else "", "dim"),
        )
        console.print(line, soft_wrap=True)


def show_ingest_report(report: "IngestReport") -> None:
    """The counts in a line, then warnings and skipped files with their reasons."""
    console = Console()
    counts = ", ".join(
        f"{len(ids)} {name}"
        for name, ids in (
            ("added", report.added),
            ("changed", report.changed),
            ("unchanged", report.unchanged),
            ("removed", report.removed),
            ("skipped", report.skipped),
        )
    )
    rate = report.chunk_count / report.seconds if report.seconds else 0.0
    console.print(Text(f"Documents: {counts}.", style="bold"))
    console.print(
        f"{report.chunk_count} chunks written in {report.seconds:.1f} s ({rate:.1f}/s)", style="dim"
    )
    for warning in report.warnings:
        console.print(Text.assemble(("warning ", "yellow"), warning), soft_wrap=True)
    for file in report.skipped:
        named = file.reason.startswith(file.source)
        reason = file.reason if named else f"{file.source}: {file.reason}"
        line = Text.assemble(("skipped ", "yellow"), reason)
        console.print(line, soft_wrap=True)


def show_checks(checks: "Sequence[Check]") -> None:
    """A line for each part of the set-up."""
    table = Table(box=None, show_header=False)
    for check in checks:
        mark = Text("ok", style="green") if check.ok else Text("failed", style="red")
        table.add_row(mark, check.name, Text(check.detail, overflow="fold"))
    Console().print(table)


def show_settings(flat: Mapping[str, object]) -> None:
    """A line for each setting."""
    table = Table(box=None, show_header=False)
    for name, value in flat.items():
        table.add_row(name, Text(_setting(value), overflow="fold"))
    Console().print(table)


def _setting(value: object) -> str:
    """*value* as a variable of the environment takes it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(map(str, cast("tuple[object, ...]", value)))
    return str(value)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _listed(query: str) -> str:
    line = _one_line(query)
    shown = cut(line, _LISTED_QUERY_LENGTH)
    return shown if shown == line else f"{shown}…"


def _show_block(console: Console, rank: int, block: EvidenceBlock) -> None:
    heading = Text.assemble((f"{rank}. ", "bold"), (block.evidence_key, "bold cyan"))
    console.print(heading, soft_wrap=True)
    for name, value in (
        ("title", block.title),
        ("section", block.breadcrumb if block.breadcrumb != block.title else None),
        ("why", ", ".join(block.hit_reasons)),
        ("score", _score(block)),
    ):
        if value:
            console.print(Text.assemble((f"   {name:8}", "dim"), value), soft_wrap=True)
    for line in block.content.splitlines():
        console.print(Text(f"   │ {line}"), soft_wrap=True)


def _score(block: EvidenceBlock) -> str:
    value = "none" if block.score.value is None else f"{block.score.value:.4f}"
    similarity = "" if block.similarity is None else f", similarity {block.similarity:.3f}"
    return f"{value} ({block.score.semantics}){similarity}"
