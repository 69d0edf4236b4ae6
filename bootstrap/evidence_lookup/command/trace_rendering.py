"""How a result came about, as tables."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from evidence_lookup.command.compare_rendering import figures
from evidence_lookup.command.ranking_rendering import key_column, pack_ledger, show_ranking
from evidence_lookup.domain.pack import ContextPackSummary
from evidence_lookup.domain.path_try import PathTry
from evidence_lookup.domain.sidecar import SidecarReport, SidecarStatus
from evidence_lookup.domain.trace import Attempt, QueryTransform, RerankEntry, RetrievalTrace


def show_retrieval(
    console: Console,
    transform: QueryTransform,
    trace: RetrievalTrace,
    ranking: Sequence[RerankEntry],
    summary: ContextPackSummary,
    similarities: Mapping[str, float | None],
) -> None:
    """Hints, attempts, every candidate, pack, sidecar, timings: each where there is one.

    *similarities* are those of the blocks, by evidence key.
    """
    _show_transform(console, transform)
    _show_attempts(console, trace)
    if ranking or trace.drops:
        _section(console, "Ranking")
        semantics = sorted({entry.base_score.semantics for entry in ranking})
        if semantics:
            console.print(
                f"scores are {', '.join(semantics)}; base: from 0 to 1; total: with the boosts; "
                "hit: the backend's rank",
                style="dim",
            )
        show_ranking(console, trace, ranking, summary, similarities)
    if ranking:
        _section(console, "Context pack")
        console.print(
            f"{summary.used} of {summary.budget} tokens; {len(summary.included)} whole, "
            f"{len(summary.cut)} cut, {len(summary.omitted)} left out"
        )
        for line in pack_ledger(summary, ranking):
            console.print(line, soft_wrap=True)
    if trace.sidecar is not None and trace.sidecar.path is not None:
        _section(console, "Sidecar")
        console.print(_sidecar(trace.sidecar, trace.sidecar.path), markup=False, soft_wrap=True)
    if trace.timings:
        _section(console, "Timings")
        console.print(_timings(trace.timings))


def _show_transform(console: Console, transform: QueryTransform) -> None:
    hints = transform.hints
    lines = {
        "keywords": hints.matched_keywords,
        "titles": hints.matched_titles,
        "domains": hints.domains,
        "entities": hints.entities,
        "scope": transform.scope,
        "cut": tuple(
            f"{cut.path}: {cut.kept} of {cut.length} characters" for cut in transform.cuts
        ),
        "redacted": ("not what was asked, but what the host records of it",)
        if transform.redacted
        else (),
    }
    if any(lines.values()):
        _section(console, "Query")
        for name, values in lines.items():
            if values:
                console.print(f"{name:9} {', '.join(values)}", markup=False)


def _show_attempts(console: Console, trace: RetrievalTrace) -> None:
    if trace.attempts:
        _section(console, "Attempts")
        numbers = [Column(name, justify="right") for name in ("asked", "candidates", "blocks")]
        table = Table(
            Column("attempt", no_wrap=True),
            key_column("filter"),
            "mode",
            "path",
            *numbers,
            Column("best", justify="right"),
            box=None,
        )
        for attempt in trace.attempts:
            best = "" if attempt.best_similarity is None else f"{attempt.best_similarity:.3f}"
            selected = " *" if attempt.name == trace.selected_attempt else ""
            table.add_row(
                f"{attempt.name}{selected}",
                Text(attempt.hint_filter or "-"),
                attempt.mode or attempt.requested_mode,
                attempt.path or "-",
                str(attempt.top_k),
                str(attempt.candidate_count),
                str(attempt.block_count),
                best,
            )
        console.print(table)
    for attempt in trace.attempts:
        for note in _notes(attempt):
            console.print(Text(f"{attempt.name}: {note}"), soft_wrap=True)
    if trace.fallback_reason:
        console.print(f"fallback: {trace.fallback_reason}")
    if trace.reason and not trace.attempts:
        console.print(f"\nnothing was searched: {trace.reason}")
    for warning in trace.warnings:
        console.print(Text(f"warning: {warning}"), soft_wrap=True)


def _notes(attempt: Attempt) -> Iterator[str]:
    yield from attempt.degraded
    yield from _failed_tries(attempt.tries)
    if attempt.error and not attempt.tries:
        yield f"{attempt.error.kind}: {attempt.error.message}"


def _failed_tries(tries: Sequence[PathTry]) -> Iterator[str]:
    for one in tries:
        if one.error:
            breaker = f" (breaker {one.breaker})" if one.breaker else ""
            yield f"{one.path}: {one.error.kind}: {one.error.message}{breaker}"


def _sidecar(report: SidecarReport, path: str) -> str:
    if report.status is SidecarStatus.DISABLED:
        return f"{path}: not run, since the main path gave nothing to compare"
    told = f"{path}: {report.status} after {report.seconds * 1000:.1f} ms"
    if report.error:
        return f"{told}, {report.error.kind}: {report.error.message}"
    if report.comparison is None:
        return told
    return f"{told}, {figures(report.comparison, 'main', 'sidecar')}"


def _timings(timings: Mapping[str, float]) -> Table:
    numbers = [Column(name, justify="right") for name in ("ms", "share")]
    table = Table("stage", *numbers, box=None)
    total = timings.get("total", 0.0)
    for stage, seconds in timings.items():
        share = f"{seconds / total:.0%}" if total > 0 else ""
        table.add_row(Text(stage), f"{seconds * 1000:.1f}", share)
    return table


def _section(console: Console, title: str) -> None:
    console.print(f"\n[bold]{title}[/bold]")
