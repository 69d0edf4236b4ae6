"""Figures over many records, for people."""

from typing import TYPE_CHECKING

from rich.table import Column, Table
from rich.text import Text

from evidence_lookup.command.console import Console
from evidence_lookup.domain.text import cut

if TYPE_CHECKING:
    from datetime import datetime

    from evidence_lookup.application.trace_stats import TraceStats

_QUERY_LENGTH = 80


def show_stats(stats: "TraceStats") -> None:
    """Number and period, times by stage, statuses and rates, unanswered queries."""
    console = Console()
    if stats.first is None or stats.last is None:
        console.print("No lookup is recorded in this period.")
        return
    console.print(
        Text(
            f"{stats.count} lookups, {_time(stats.first)} to {_time(stats.last)} UTC", style="bold"
        ),
        soft_wrap=True,
    )
    if stats.limit_reached:
        console.print(
            "The newest only: there may be older records in the period (--limit).", style="yellow"
        )
    _show_stages(console, stats)
    _show_shares(console, stats)
    _show_unanswered(console, stats)


def _show_stages(console: Console, stats: "TraceStats") -> None:
    console.print()
    names = ("p50", "p90", "p95", "p99", "max", "lookups")
    table = Table("ms", *(Column(name, justify="right") for name in names), box=None)
    for stage, one in stats.stages.items():
        figures = (one.p50, one.p90, one.p95, one.p99, one.max)
        table.add_row(stage, *(f"{value * 1000:.1f}" for value in figures), str(one.count))
    console.print(table)


def _show_shares(console: Console, stats: "TraceStats") -> None:
    console.print()
    table = Table(box=None, show_header=False)
    for status, one in stats.statuses.items():
        table.add_row(status, str(one.count), f"{one.share:.1%}")
    if stats.fallback_rate is not None:
        count = round(stats.fallback_rate * stats.count)
        table.add_row("second attempt", str(count), f"{stats.fallback_rate:.1%}")
    console.print(table)


def _show_unanswered(console: Console, stats: "TraceStats") -> None:
    if not stats.unanswered:
        return
    console.print("\n[bold]Asked without a good answer[/bold]")
    for one in stats.unanswered:
        line = " ".join(one.query.split())
        shown = cut(line, _QUERY_LENGTH)
        console.print(
            Text.assemble(
                (f"{one.count:5} × ", "bold"),
                f"{shown}{'' if shown == line else '…'}",
                (f"  {one.status}, last {_time(one.last_asked)} UTC, {one.last_id}", "dim"),
            ),
            soft_wrap=True,
        )


def _time(moment: "datetime") -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"
