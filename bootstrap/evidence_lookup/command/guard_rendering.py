"""What the evidence guard found, for people."""

from rich.table import Column, Table
from rich.text import Text

from evidence_lookup.command.console import Console
from evidence_lookup.domain.evidence_guard import (
    GuardReport,
    QuoteFinding,
    QuoteState,
    ReferenceFinding,
    ReferenceVerdict,
)
from evidence_lookup.domain.text import clean, cut

_STYLE = {
    ReferenceVerdict.VALID: "green",
    ReferenceVerdict.UNKNOWN: "bold red",
    ReferenceVerdict.POSITIONAL: "bold red",
    QuoteState.FOUND: "green",
    QuoteState.NOT_FOUND: "bold red",
    QuoteState.UNCHECKED: "yellow",
    QuoteState.NONE: "dim",
}
_SHOWN_QUOTE = 80


def show_guard_report(report: GuardReport) -> None:
    """A row for each reference, one for each quote beside it, and the verdict in a line."""
    console = Console()
    if report.findings:
        table = Table(
            Column("place", overflow="fold"),
            Column("reference and quotes", overflow="fold", ratio=1),
            Column("state", overflow="fold"),
            box=None,
        )
        for finding in report.findings:
            reference = Text(_one_line(finding.reference), style="bold cyan")
            table.add_row(_place(finding), reference, _styled(finding.verdict))
            for quote in finding.quotes:
                quoted = Text(f"  “{cut(_one_line(quote.text), _SHOWN_QUOTE)}”")
                table.add_row("", quoted, _quote_state(quote))
        console.print(table)
        console.print()
    console.print(_verdict(report), soft_wrap=True)
    if report.records_incomplete:
        console.print(
            Text(
                "warning: not every record is whole: an id called unknown may have been returned",
                style="yellow",
            ),
            soft_wrap=True,
        )


def _place(finding: ReferenceFinding) -> Text:
    if finding.start is None:
        return Text(finding.path)
    at = str(finding.start)
    return Text(at if finding.path == "$" else f"{finding.path} {at}")


def _quote_state(quote: QuoteFinding) -> Text:
    told = _styled(quote.state)
    if quote.reason:
        told.append(f" ({quote.reason})")
    if quote.found_in:
        told.append(f", but in {', '.join(map(_one_line, quote.found_in))}")
    return told


def _styled(state: ReferenceVerdict | QuoteState) -> Text:
    return Text.assemble((state.value, _STYLE[state]))


def _verdict(report: GuardReport) -> Text:
    if report.uncited:
        return Text("The answer has no reference.", style="bold yellow")
    counts = {**report.verdict_counts, **report.quote_counts}
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    is_open = bool(report.quote_counts.get(QuoteState.UNCHECKED))
    good = ("ok", "bold yellow" if is_open else "bold green")
    verdict = good if report.ok else ("not ok", "bold red")
    return Text.assemble(verdict, f": {told}")


def _one_line(text: str) -> str:
    return clean(" ".join(text.split()))
