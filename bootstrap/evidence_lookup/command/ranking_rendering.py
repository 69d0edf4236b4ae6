"""Every candidate of a lookup in one table, and the ledger of its context pack."""

import math
from collections.abc import Iterator, Mapping, Sequence

from rich.table import Column, Table
from rich.text import Text

from evidence_lookup.domain.identity import parse_evidence_key
from evidence_lookup.domain.pack import ContextPackSummary
from evidence_lookup.domain.trace import RerankEntry, RetrievalTrace

_STYLES = {"whole": "green", "cut": "yellow", "left out": "red"}


def key_column(name: str) -> Column:
    """The column that gets the room that the others leave, and folds."""
    return Column(name, overflow="fold", ratio=1)


def ranking_table(
    trace: RetrievalTrace,
    ranking: Sequence[RerankEntry],
    summary: ContextPackSummary,
    similarities: Mapping[str, float | None],
) -> Table:
    """The blocks in their order with what ranked them, then what was left out, and why.

    Only of what was left out a record tells the port's rank. *similarities* are those of the
    blocks, by evidence key.
    """
    rank, port, *figures = (
        Column(name, justify="right")
        for name in ("rank", "port", "score", "similarity", "base", "total")
    )
    table = Table(rank, port, key_column("evidence key"), *figures, "outcome", box=None)
    packed = dict(_packed(summary))
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


def pack_ledger(summary: ContextPackSummary, ranking: Sequence[RerankEntry]) -> Table:
    """What became of each block in the context pack, best block first."""
    table = Table(box=None, show_header=False)
    packed, sources = dict(_packed(summary)), _sources(summary)
    for entry in ranking:
        key = entry.evidence_key
        if (told := packed.get(key)) is not None:
            table.add_row(
                Text(told, style=_STYLES[told]),
                Text(key, overflow="fold"),
                Text(sources.get(key, ""), style="dim", overflow="fold"),
            )
    return table


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
