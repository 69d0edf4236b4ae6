"""The candidate belongs to a domain of the query's hints."""

from evidence_lookup.domain.candidate import Candidate
from evidence_lookup.domain.hints import QueryHints
from evidence_lookup.domain.rerank.boost import Boost

AMOUNT = 0.05


def category_match(candidate: Candidate, hints: QueryHints) -> tuple[Boost, ...]:
    """0.05 where the candidate's category is among the hints' domains."""
    category = candidate.text("category")
    if category is None or category not in hints.domains:
        return ()
    return (Boost("category_match", AMOUNT, f"category:{category}"),)
