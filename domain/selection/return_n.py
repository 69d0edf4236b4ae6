"""At most `return_n` blocks come out (R09)."""

from collections.abc import Sequence

from evidence_lookup.domain.rerank import RankedCandidate
from evidence_lookup.domain.selection.drop import Drop, DropReason, drop


def limit_to_return_n(
    ranked: Sequence[RankedCandidate], return_n: int
) -> tuple[tuple[RankedCandidate, ...], tuple[Drop, ...]]:
    """Keep the first *return_n*."""
    drops = tuple(drop(one, DropReason.RETURN_N) for one in ranked[return_n:])
    return tuple(ranked[:return_n]), drops
