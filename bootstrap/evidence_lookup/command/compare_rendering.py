"""Two paths side by side, for people."""

from typing import TYPE_CHECKING

from rich.table import Column, Table
from rich.text import Text

from evidence_lookup.command.console import Console
from evidence_lookup.domain.comparison import ComparedResult, Comparison, PathRank, PathSummary

if TYPE_CHECKING:
    from evidence_lookup.application.compare_report import CompareReport, QueryComparison
    from evidence_lookup.domain.path_try import TraceError


def show_comparison(report: "CompareReport") -> None:
    """One query with all its results; of several a line for each, and the totals."""
    console = Console()
    if len(report.queries) == 1:
        _show_query(console, report, report.queries[0])
        return
    for one in report.queries:
        console.print(_line(report, one), soft_wrap=True)
    console.print()
    _show_totals(console, report)


def figures(comparison: Comparison, main: str, other: str) -> str:
    """The figures of one comparison in a line; *main* and *other* name the two sides."""
    moved = comparison.mean_absolute_displacement
    return (
        f"overlap@{comparison.k} {comparison.overlap_at_k:.2f}, "
        + ("" if moved is None else f"mean displacement {moved:.1f}, ")
        + f"{len(comparison.only_main)} only in {main}, "
        f"{len(comparison.only_other)} only in {other}"
    )


def _show_query(console: Console, report: "CompareReport", one: "QueryComparison") -> None:
    console.print(Text(one.query, style="bold"))
    if one.comparison is None:
        console.print(_failures(report, one), soft_wrap=True)
        return
    comparison = one.comparison
    console.print(f"main   {report.main}: {_side(comparison.main)}", style="dim", markup=False)
    console.print(f"other  {report.other}: {_side(comparison.other)}", style="dim", markup=False)
    console.print(figures(comparison, "main", "other"), markup=False)
    if not comparison.rows:
        return
    console.print()
    numbers = [Column(name, justify="right") for name in ("main", "other", "moved")]
    key = Column("evidence key and title", overflow="fold", ratio=1)
    scores = [Column(f"{side} score", overflow="fold") for side in ("main", "other")]
    table = Table(*numbers, key, *scores, box=None)
    for row in comparison.rows:
        table.add_row(*_cells(row))
    console.print(table)


def _cells(row: ComparedResult) -> tuple[str | Text, ...]:
    return (
        str(row.main.rank) if row.main else "-",
        str(row.other.rank) if row.other else "-",
        f"{row.displacement:+d}" if row.displacement else "" if row.displacement is None else "0",
        Text.assemble(
            (row.evidence_key, "bold cyan"), (f"\n{row.title}" if row.title else "", "dim")
        ),
        _score(row.main),
        _score(row.other),
    )


def _score(ranked: PathRank | None) -> str:
    if ranked is None:
        return ""
    value = "" if ranked.score.value is None else f"{ranked.score.value:.4f} "
    return f"{value}{ranked.score.semantics}"


def _side(path: PathSummary) -> str:
    results = "1 result" if path.count == 1 else f"{path.count} results"
    return ", ".join((path.path, path.mode, results, *path.degraded))


def _line(report: "CompareReport", one: "QueryComparison") -> Text:
    query = " ".join(one.query.split())
    if one.comparison is None:
        return Text.assemble(_failures(report, one), f"  {query}")
    style = "green" if one.comparison.overlap_at_k == 1.0 else "yellow"
    return Text.assemble((figures(one.comparison, "main", "other"), style), f"  {query}")


def _failures(report: "CompareReport", one: "QueryComparison") -> Text:
    sides = (("main", report.main, one.main_error), ("other", report.other, one.other_error))
    told = [_failure(side, path, error) for side, path, error in sides if error]
    return Text("; ".join(told), style="red")


def _failure(side: str, path: str, error: "TraceError") -> str:
    return f"{side} {path} failed: {error.kind}: {error.message}"


def _show_totals(console: Console, report: "CompareReport") -> None:
    totals = report.totals
    console.print(
        Text(
            f"{totals.queries} queries, {totals.compared} compared: "
            f"main {report.main}, other {report.other}, {report.mode}, top {report.top_k}",
            style="bold",
        ),
        soft_wrap=True,
    )
    table = Table(box=None, show_header=False)
    for name, value in (
        ("mean overlap", _number(totals.mean_overlap_at_k, ".3f")),
        ("queries with full overlap", _number(totals.full_overlap_share, ".0%")),
        ("mean displacement", _number(totals.mean_absolute_displacement, ".2f")),
        ("chunks only in main", str(totals.only_main)),
        ("chunks only in other", str(totals.only_other)),
        ("queries that main failed", str(totals.main_failures)),
        ("queries that other failed", str(totals.other_failures)),
    ):
        table.add_row(name, value)
    console.print(table)


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
