"""How a result came about, as tables."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from evidence_lookup.command.compare_rendering import figures
from evidence_lookup.domain.pack import ContextPackSummary
from evidence_lookup.domain.path_try import PathTry
from evidence_lookup.domain.sidecar import SidecarReport, SidecarStatus
from evidence_lookup.domain.trace import QueryTransform, RerankEntry, RetrievalTrace


def show_retrieval(
    console: Console,
    transform: QueryTransform,
    trace: RetrievalTrace,
    ranking: Sequence[RerankEntry],
    summary: ContextPackSummary,
) -> None:
    """Hints, attempts, ranking, drops, pack, sidecar, timings: each where there is one."""
    _show_transform(console, transform)
    _show_attempts(console, trace)
    _show_ranking(console, ranking)
    _show_drops(console, trace)
    if ranking:
        _section(console, "Context pack")
        console.print(
            f"{summary.used} of {summary.budget} tokens; {len(summary.included)} whole, "
            f"{len(summary.cut)} cut, {len(summary.omitted)} left out"
        )
    if trace.sidecar is not None and trace.sidecar.path is not None:
        _section(console, "Sidecar")
        console.print(_sidecar(trace.sidecar, trace.sidecar.path), markup=False, soft_wrap=True)
    if trace.timings:
        _section(console, "Timings")
        console.print(
            "  ".join(f"{name} {seconds * 1000:.1f} ms" for name, seconds in trace.timings.items())
        )


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
    }
    if any(lines.values()):
        _section(console, "Query")
        for name, values in lines.items():
            if values:
                console.print(f"{name:9} {', '.join(values)}", markup=False)


def _show_attempts(console: Console, trace: RetrievalTrace) -> None:
    if not trace.attempts:
        return
    _section(console, "Attempts")
    table = Table(
        "attempt", "filter", "mode", "path", "candidates", "blocks", "best", "note", box=None
    )
    for attempt in trace.attempts:
        best = "" if attempt.best_similarity is None else f"{attempt.best_similarity:.3f}"
        notes = [*attempt.degraded, *_failed_tries(attempt.tries)]
        if attempt.error and not attempt.tries:
            notes.append(f"{attempt.error.kind}: {attempt.error.message}")
        selected = " *" if attempt.name == trace.selected_attempt else ""
        table.add_row(
            f"{attempt.name}{selected}",
            escape(attempt.hint_filter or ""),
            attempt.mode or attempt.requested_mode,
            attempt.path or "",
            str(attempt.candidate_count),
            str(attempt.block_count),
            best,
            escape("; ".join(notes)),
        )
    console.print(table)
    if trace.fallback_reason:
        console.print(f"fallback: {trace.fallback_reason}")
    for warning in trace.warnings:
        console.print(f"warning: {warning}", markup=False)


def _failed_tries(tries: Sequence[PathTry]) -> Iterator[str]:
    for one in tries:
        if one.error:
            breaker = f" (breaker {one.breaker})" if one.breaker else ""
            yield f"{one.path}: {one.error.kind}: {one.error.message}{breaker}"


def _show_ranking(console: Console, ranking: Sequence[RerankEntry]) -> None:
    if not ranking:
        return
    _section(console, "Ranking")
    table = Table("rank", _key_column(), "score", "base", "boosts", "total", box=None)
    for entry in ranking:
        score = entry.base_score
        table.add_row(
            str(entry.final_rank),
            escape(entry.evidence_key),
            "" if score.value is None else f"{score.value:.4f} {score.semantics}",
            f"{entry.base:.3f}",
            escape(", ".join(f"{boost.amount:+.2f} {boost.reason}" for boost in entry.boosts)),
            f"{entry.ranking_score:.3f}",
        )
    console.print(table)


def _show_drops(console: Console, trace: RetrievalTrace) -> None:
    if not trace.drops:
        return
    _section(console, "Left out")
    table = Table(_key_column(), "reason", "port rank", "similarity", box=None)
    for drop in trace.drops:
        similarity = "" if drop.similarity is None else f"{drop.similarity:.3f}"
        table.add_row(escape(drop.evidence_key), drop.reason, str(drop.rank), similarity)
    console.print(table)


def _sidecar(report: SidecarReport, path: str) -> str:
    if report.status is SidecarStatus.DISABLED:
        return f"{path}: not run, since the main path gave nothing to compare"
    told = f"{path}: {report.status} after {report.seconds * 1000:.1f} ms"
    if report.error:
        return f"{told}, {report.error.kind}: {report.error.message}"
    if report.comparison is None:
        return told
    return f"{told}, {figures(report.comparison, 'main', 'sidecar')}"


def _key_column() -> Column:
    return Column("evidence key", overflow="fold", ratio=1)


def _section(console: Console, title: str) -> None:
    console.print(f"\n[bold]{title}[/bold]")
