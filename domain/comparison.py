"""What two retrieval paths found for one request, side by side (R34, R52).

Two paths may score in two ways, so nothing here compares, subtracts or averages scores: each stands
with its semantics beside its value, and every figure is made of ranks and evidence keys.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from attrs import evolve, field, frozen
from attrs.validators import deep_iterable, instance_of

from evidence_lookup.domain.candidate import Candidate
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.preview import preview
from evidence_lookup.domain.score import Score

_text = instance_of(str)


@frozen
class ComparedPath:
    """What one path found: the `candidates` in its port's order, best first.

    `path` is the backend that served, `mode` the one that ran, `degraded` why it is not the one
    that was asked for.
    """

    path: str
    mode: SearchMode
    candidates: tuple[Candidate, ...]
    degraded: tuple[str, ...] = ()


@frozen
class PathSummary:
    """One path of a comparison; `count` is how many different chunks it found.

    Raises:
        TypeError: an attribute is not of its type, as an adapter of a host may give it.
    """

    path: str = field(validator=_text)
    mode: SearchMode = field(validator=instance_of(SearchMode))
    degraded: tuple[str, ...] = field(validator=deep_iterable(_text, instance_of(tuple)))
    count: int


@frozen
class PathRank:
    """Where a path has a chunk: its rank, from 1, and the score that the path gave it.

    Raises:
        TypeError: the score is none.
    """

    rank: int
    score: Score = field(validator=instance_of(Score))


@frozen
class ComparedResult:
    """One chunk as both paths have it; None stands for the path that did not find it.

    `displacement` is the other path's rank less the main one's: positive where the other path has
    the chunk further down.
    """

    evidence_key: str
    doc_id: str | None
    source: str | None
    title: str | None
    breadcrumb: str | None
    category: str | None
    preview: str
    main: PathRank | None
    other: PathRank | None
    displacement: int | None


@frozen
class Comparison:
    """Two paths on one request.

    `rows` are ordered by the main path's rank, then those of the other path alone by its own;
    `rows_left_out` counts the rows that a record had no room for. `only_main` and `only_other` are
    the keys that one path alone found. `mean_absolute_displacement` is over the chunks that both
    found, None where there is none.
    """

    k: int
    main: PathSummary
    other: PathSummary
    rows: tuple[ComparedResult, ...]
    overlap_at_k: float
    only_main: tuple[str, ...]
    only_other: tuple[str, ...]
    mean_absolute_displacement: float | None
    rows_left_out: int = 0

    def bounded(self, rows: int) -> "Comparison":
        """The same with the first *rows* rows only; every figure stays that of all rows."""
        left_out = self.rows_left_out + max(0, len(self.rows) - rows)
        return evolve(self, rows=self.rows[:rows], rows_left_out=left_out)


def compare(main: ComparedPath, other: ComparedPath, *, k: int) -> Comparison:
    """*main* and *other* side by side; *k*, from 1, is how many results were asked for.

    A chunk that a path lists twice counts once, where it stands first, and ranks are those among
    the different chunks. A key that is only a rank (``rank:3``, of a hit without any identity)
    names nothing outside its own list and matches nothing in the other one.

    Raises:
        TypeError: a path holds values that are not of their types.
    """
    in_main, in_other = _distinct(main.candidates, "main"), _distinct(other.candidates, "other")
    by_main, by_other = _ranks(in_main), _ranks(in_other)
    rows = tuple(
        _row(candidate, by_main.get(key), by_other.get(key))
        # In the main path's order first, and with its texts where both have the chunk.
        for key, candidate in (in_main | in_other | in_main).items()
    )
    displacements = [abs(row.displacement) for row in rows if row.displacement is not None]
    return Comparison(
        k=k,
        main=_summary(main, len(by_main)),
        other=_summary(other, len(by_other)),
        rows=rows,
        overlap_at_k=_overlap(list(by_main), list(by_other), k),
        only_main=tuple(row.evidence_key for row in rows if row.other is None),
        only_other=tuple(row.evidence_key for row in rows if row.main is None),
        mean_absolute_displacement=mean(displacements),
    )


def mean(values: Iterable[float]) -> float | None:
    """The arithmetic mean, or None of no values."""
    all_values = list(values)
    return sum(all_values) / len(all_values) if all_values else None


# A key that is only a rank is told apart by the list that it stands in.
_Key: TypeAlias = tuple[str, str]


def _overlap(main: Sequence[_Key], other: Sequence[_Key], k: int) -> float:
    """``|top-k of main ∩ top-k of other| / min(k, max(|main|, |other|))``, 0 to 1.

    Two empty lists agree: 1. This is the agreement at depth k of Webber, Moffat, Zobel, "A
    similarity measure for indefinite rankings" (2010), with the depth cut to the longer list, so
    that two paths which both know only 3 chunks can agree whole at k = 20.
    """
    depth = min(k, max(len(main), len(other)))
    return len({*main[:k]} & {*other[:k]}) / depth if depth else 1.0


def _distinct(candidates: Sequence[Candidate], path: str) -> dict[_Key, Candidate]:
    first: dict[_Key, Candidate] = {}
    for candidate in candidates:
        owner = path if candidate.identity.is_synthetic else ""
        first.setdefault((candidate.evidence_key, owner), candidate)
    return first


def _ranks(distinct: Mapping[_Key, Candidate]) -> dict[_Key, PathRank]:
    return {
        key: PathRank(rank, candidate.score)
        for rank, (key, candidate) in enumerate(distinct.items(), start=1)
    }


def _row(candidate: Candidate, main: PathRank | None, other: PathRank | None) -> ComparedResult:
    return ComparedResult(
        evidence_key=candidate.evidence_key,
        doc_id=candidate.identity.doc_id,
        source=candidate.source,
        title=candidate.text("title"),
        breadcrumb=candidate.text("breadcrumb"),
        category=candidate.text("category"),
        preview=preview(candidate.content),
        main=main,
        other=other,
        displacement=other.rank - main.rank if main and other else None,
    )


def _summary(path: ComparedPath, count: int) -> PathSummary:
    return PathSummary(path.path, path.mode, path.degraded, count)
