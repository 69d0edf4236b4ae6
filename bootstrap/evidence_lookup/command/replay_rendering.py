"""What a replay found, for people."""

from typing import TYPE_CHECKING

from rich.table import Column, Table
from rich.text import Text

from evidence_lookup.application.replay_report import is_changed
from evidence_lookup.command.console import Console

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evidence_lookup.application.replay_report import ReplayReport, ReplayTotals
    from evidence_lookup.domain.replay import ReplayedLookup

_SHOWN = 20
_NONE = "none"


def show_replay(report: "ReplayReport", *, everything: bool = False) -> None:
    """The totals, then each lookup that changed or has no answer: all, or the first 20."""
    console = Console()
    _show_totals(console, report)
    _show_latency(console, report.totals)
    told = [one for one in report.lookups if is_changed(one) or one.error is not None]
    shown = told if everything else told[:_SHOWN]
    for one in shown:
        console.print()
        for line in _lookup(one):
            console.print(line, soft_wrap=True)
    if len(shown) < len(told):
        console.print(f"\n{len(told) - len(shown)} more (--all shows them)", style="dim")


def _show_totals(console: Console, report: "ReplayReport") -> None:
    totals = report.totals
    share = "" if totals.changed_share is None else f" ({totals.changed_share:.1%})"
    console.print(
        Text(
            f"{totals.read} records, {totals.replayed} run again, {totals.compared} compared: "
            f"{totals.changed} changed{share}",
            style="bold green" if totals.compared and not totals.changed else "bold",
        ),
        soft_wrap=True,
    )
    if report.limit_reached:
        console.print("The newest only: there may be older records (--limit).", style="yellow")
    table = Table(box=None, show_header=False)
    for name, value in _figures(totals):
        table.add_row(name, value)
    if table.row_count:
        console.print(table)


def _figures(totals: "ReplayTotals") -> "Iterator[tuple[str, str]]":
    for reason, count in totals.skipped.items():
        yield f"skipped: {reason}", str(count)
    for outcome, count in totals.outcomes.items():
        yield outcome.replace("_", " "), str(count)
    if totals.compared:
        yield (
            "evidence keys",
            f"{totals.keys_appeared} appeared, {totals.keys_vanished} vanished, "
            f"{totals.keys_moved} moved",
        )
    for status in totals.status_changes:
        yield f"status {status.before} → {status.after}", str(status.count)
    for fallback in totals.fallback_changes:
        yield (
            f"fallback {fallback.before or _NONE} → {fallback.after or _NONE}",
            str(fallback.count),
        )
    for kind, count in totals.errors.items():
        yield f"error: {kind}", str(count)


def _show_latency(console: Console, totals: "ReplayTotals") -> None:
    if not totals.latency:
        return
    console.print()
    names = ("median then", "median now", "p95 then", "p95 now")
    table = Table("ms", *(Column(name, justify="right") for name in names), box=None)
    for stage, change in totals.latency.items():
        before, after = change.before, change.after
        figures = (before.p50, after.p50, before.p95, after.p95)
        table.add_row(stage, *(f"{value * 1000:.1f}" for value in figures))
    console.print(table)


def _lookup(one: "ReplayedLookup") -> "Iterator[Text]":
    yield Text(" ".join(one.query.split()), style="bold")
    notes = [f"{one.id}  {one.created_at:%Y-%m-%d %H:%M:%S} UTC  {one.mode}"]
    if one.status_before is not one.status_after:
        notes.append(f"status {one.status_before} → {one.status_after}")
    if one.error is None and one.fallback_before is not one.fallback_after:
        notes.append(f"fallback {one.fallback_before or _NONE} → {one.fallback_after or _NONE}")
    if "total" in one.timings_before and "total" in one.timings_after:
        before, after = one.timings_before["total"], one.timings_after["total"]
        notes.append(f"{before * 1000:.0f} → {after * 1000:.0f} ms")
    yield Text("  ".join(notes), style="dim")
    if one.error is not None:
        yield Text(f"  ! {one.error.kind}: {one.error.message}", style="red")
    for new in one.appeared:
        yield Text(f"  + {new.evidence_key}  at {new.rank}", style="green")
    for gone in one.vanished:
        yield Text(f"  − {gone.evidence_key}  was {gone.rank}", style="red")
    for key in one.moved:
        yield Text(f"  ↕ {key.evidence_key}  {key.rank_before} → {key.rank_after}", style="yellow")
