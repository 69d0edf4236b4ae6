"""Where a chunk stands in an answer, for people."""

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from evidence_lookup.command.console import Console
from evidence_lookup.domain.explanation import Explanation, Stage, Standing, StepOutcome

_NAMES = {
    Stage.NOT_INDEXED: "indexed",
    Stage.FILTERED: "scope and hints",
    Stage.NOT_RETRIEVED: "retrieved",
    Stage.BELOW_FLOOR: "evidence floor",
    Stage.DUPLICATE: "duplicates",
    Stage.DOCUMENT_CAP: "document cap",
    Stage.RETURN_N: "return-n",
    Stage.BUDGET: "context budget",
}
_MARKS = {
    StepOutcome.PASSED: ("✓", "green"),
    StepOutcome.LOST: ("✗", "bold red"),
    StepOutcome.NOT_REACHED: ("·", "dim"),
    StepOutcome.UNKNOWN: ("?", "yellow"),
}


def show_explained(explanation: Explanation) -> None:
    """The verdict in a line, the reason in words, the figures, and the stages."""
    console = Console()
    style = "green" if explanation.stage is Stage.RETURNED else "yellow"
    verdict = Text.assemble(
        (f"{explanation.stage}", f"bold {style}"), "  ", (explanation.evidence_key, "bold cyan")
    )
    console.print(verdict, soft_wrap=True)
    console.print(Text(explanation.message))
    figures = dict(_figures(explanation))
    if figures:
        console.print()
    for name, value in figures.items():
        console.print(Text.assemble((f"{name:10} ", "dim"), value), soft_wrap=True)
    if explanation.steps:
        console.print()
        console.print(_steps(explanation))


def _figures(explanation: Explanation) -> Iterator[tuple[str, str]]:
    if explanation.attempt:
        yield "attempt", explanation.attempt
    if explanation.rank is not None:
        yield "rank", f"{explanation.rank} of the backend's list"
    if explanation.final_rank is not None:
        yield "final rank", str(explanation.final_rank)
    if explanation.score is not None:
        value = explanation.score.value
        number = "none" if value is None else f"{value:.4f}"
        yield "score", f"{number} ({explanation.score.semantics})"
    if explanation.similarity is not None:
        floor = "" if explanation.floor is None else f", evidence floor {explanation.floor:.3f}"
        yield "similarity", f"{explanation.similarity:.3f}{floor}"
    for standing in explanation.standings:
        yield f"{standing.mode}", _standing(standing)
    if explanation.setting:
        yield "setting", explanation.setting
    if explanation.invocation_id:
        yield "lookup", explanation.invocation_id


def _standing(standing: Standing) -> str:
    place = "not" if standing.rank is None else f"rank {standing.rank}"
    narrowed = f", category {standing.hint_filter}" if standing.hint_filter else ""
    return f"{place} among {standing.count} hits of a search for {standing.depth}{narrowed}"


def _steps(explanation: Explanation) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for step in explanation.steps:
        mark, style = _MARKS[step.outcome]
        name = Text(_NAMES[step.stage], style="dim" if style == "dim" else "")
        table.add_row(Text(mark, style=style), name, Text(step.detail, overflow="fold"))
    return table
