"""What came of comparing two paths on many queries."""

from collections.abc import Sequence

from attrs import frozen

from evidence_lookup.domain.comparison import Comparison, mean
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.path_try import TraceError


@frozen
class CompareProgress:
    """Where a running comparison stands, in queries."""

    done: int
    total: int


@frozen
class QueryComparison:
    """One query on both paths; `comparison` is None where a path failed, and its error is set."""

    query: str
    comparison: Comparison | None
    main_error: TraceError | None = None
    other_error: TraceError | None = None


@frozen
class CompareTotals:
    """Figures over all queries.

    `compared` counts the queries that both paths answered; the means are over these, from 0 to 1
    for the overlap, and None where there is none. `mean_absolute_displacement` is over all chunks
    that both paths found. `only_main` and `only_other` count chunks, query by query.
    """

    queries: int
    compared: int
    mean_overlap_at_k: float | None
    full_overlap_share: float | None
    mean_absolute_displacement: float | None
    only_main: int
    only_other: int
    main_failures: int
    other_failures: int


@frozen
class CompareReport:
    """Two paths by the names that were asked for, query by query in their order, and in all.

    `top_k` results were asked for in `mode`; a backend that takes fewer says so in a comparison's
    `k`, and one that lacks the mode in the `mode` and `degraded` of its side.
    """

    main: str
    other: str
    mode: SearchMode
    top_k: int
    queries: tuple[QueryComparison, ...]
    totals: CompareTotals


def totals(queries: Sequence[QueryComparison]) -> CompareTotals:
    """The figures over *queries*."""
    compared = [one.comparison for one in queries if one.comparison is not None]
    moves = (row.displacement for one in compared for row in one.rows)
    return CompareTotals(
        queries=len(queries),
        compared=len(compared),
        mean_overlap_at_k=mean(one.overlap_at_k for one in compared),
        full_overlap_share=mean(one.overlap_at_k == 1.0 for one in compared),
        mean_absolute_displacement=mean(abs(move) for move in moves if move is not None),
        only_main=sum(len(one.only_main) for one in compared),
        only_other=sum(len(one.only_other) for one in compared),
        main_failures=sum(one.main_error is not None for one in queries),
        other_failures=sum(one.other_error is not None for one in queries),
    )
