"""Every candidate of a lookup in one table, and the ledger of its context pack."""

import math
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from evidence_lookup.domain.identity import parse_evidence_key
from evidence_lookup.domain.pack import ContextPackSummary
from evidence_lookup.domain.trace import RerankEntry, RetrievalTrace

_NARROW = 100  # columns; below, a table breaks keys into pieces that nobody can copy
_STYLES = {"whole": "green", "cut": "yellow", "left out": "red"}


def key_column(name: str) -> Column:
    """The column that gets the room that the others leave, and folds."""
    return Column(name, overflow="fold", ratio=1)


def show_ranking(
    console: Console,
    trace: RetrievalTrace,
    ranking: Sequence[RerankEntry],
    summary: ContextPackSummary,
    similarities: Mapping[str, float | None],
) -> None:
    """The blocks in their order with what ranked them, then what was left out, and why.

    A table, or where there is no room for one, lines that hold each key whole. Only of what was
    left out a record tells the backend's rank. *similarities* are those of the blocks, by
    evidence key.
    """
    packed = dict(_packed(summary))
    if console.width < _NARROW:
        for line in _lines(trace, ranking, packed, similarities):
            console.print(line, soft_wrap=True)
    else:
        console.print(_table(trace, ranking, packed, similarities))


def _lines(
    trace: RetrievalTrace,
    ranking: Sequence[RerankEntry],
    packed: Mapping[str, str],
    similarities: Mapping[str, float | None],
) -> Iterator[Text]:
    for entry in ranking:
        value = entry.base_score.value
        figures = {
            "score": "none" if value is None else f"{value:.4f}",
            "similarity": _figure(similarities.get(entry.evidence_key)),
            "base": f"{entry.base:.3f}",
            "total": f"{entry.ranking_score:.3f}",
        }
        outcome = _block(packed.get(entry.evidence_key))
        yield Text.assemble(f"{entry.final_rank:3}  ", (entry.evidence_key, "bold cyan"))
        yield Text.assemble("     ", outcome, f"  {_named(figures)}")
        if boosts := ", ".join(_boosts(entry)):
            yield Text(f"     {boosts}", style="dim")
    for drop in trace.drops:
        figures = {"hit": str(drop.rank), "similarity": _figure(drop.similarity)}
        yield Text.assemble("  -  ", (drop.evidence_key, "cyan"))
        yield Text.assemble("     ", (drop.reason, "yellow"), f"  {_named(figures)}")


def _named(figures: Mapping[str, str]) -> str:
    return "  ".join(f"{name} {figure}" for name, figure in figures.items() if figure)


def _table(
    trace: RetrievalTrace,
    ranking: Sequence[RerankEntry],
    packed: Mapping[str, str],
    similarities: Mapping[str, float | None],
) -> Table:
    rank, hit, *figures = (
        Column(name, justify="right")
        for name in ("rank", "hit", "score", "similarity", "base", "total")
    )
    table = Table(rank, hit, key_column("evidence key"), *figures, "outcome", box=None)
    for entry in ranking:
        value = entry.base_score.value
        table.add_row(
            str(entry.final_rank),
            "",
            _key(entry),
            "none" if value is None else f"{value:.4f}",
            _figure(similarities.get(entry.evidence_key)),
            f"{entry.base:.3f}",
            f"{entry.ranking_score:.3f}",
            _block(packed.get(entry.evidence_key)),
        )
    for drop in trace.drops:
        table.add_row(
            "-",
            str(drop.rank),
            Text(drop.evidence_key, style="cyan"),
            "",
            _figure(drop.similarity),
            "",
            "",
            Text(drop.reason, style="yellow"),
        )
    return table


def pack_ledger(summary: ContextPackSummary, ranking: Sequence[RerankEntry]) -> Iterator[Text]:
    """What became of each block in the context pack, best block first, in a line for each."""
    packed, sources = dict(_packed(summary)), _sources(summary)
    for entry in ranking:
        key = entry.evidence_key
        if (told := packed.get(key)) is not None:
            source = f"  {sources[key]}" if key in sources else ""
            yield Text.assemble(" ", (f"{told:8}", _STYLES[told]), f"  {key}", (source, "dim"))


def _packed(summary: ContextPackSummary) -> Iterator[tuple[str, str]]:
    for told, sources in (
        ("whole", summary.included),
        ("cut", summary.cut),
        ("left out", summary.omitted),
    ):
        yield from ((one.evidence_key, told) for one in sources)


def _sources(summary: ContextPackSummary) -> dict[str, str]:
    """Sources by key, where the key does not say them already."""
    sources: dict[str, str] = {}
    for one in (*summary.included, *summary.cut, *summary.omitted):
        parsed = parse_evidence_key(one.evidence_key)
        if one.source and (parsed is None or parsed[0] != one.source):
            sources[one.evidence_key] = one.source
    return sources


def _key(entry: RerankEntry) -> Text:
    boosts = ", ".join(_boosts(entry))
    return Text.assemble(
        (entry.evidence_key, "bold cyan"), (f"\n{boosts}" if boosts else "", "dim")
    )


def _boosts(entry: RerankEntry) -> Iterator[str]:
    """``+0.30 keyword (redis, sentinel)``: the boosts of one kind together, titles by no name."""
    kinds: dict[str, list[tuple[float, str]]] = {}
    for boost in entry.boosts:
        kind, _, name = boost.reason.partition(":")
        kinds.setdefault(kind, []).append((boost.amount, name))
    for kind, boosts in kinds.items():
        amount = math.fsum(amount for amount, _ in boosts)
        names = ", ".join(name for _, name in boosts)
        yield f"{amount:+.2f} {kind}" + ("" if kind == "title" else f" ({names})")


def _block(told: str | None) -> Text:
    outcome = {"cut": "block, cut", "left out": "block, unpacked"}.get(told or "", "block")
    return Text(outcome, style=_STYLES.get(told or "", "green"))


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
