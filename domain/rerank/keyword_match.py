"""A keyword of the query's hints stands in the candidate."""

from evidence_lookup.domain.candidate import Candidate
from evidence_lookup.domain.hints import QueryHints
from evidence_lookup.domain.rerank.boost import Boost
from evidence_lookup.domain.rerank.term_match import matched_terms

AMOUNT = 0.1
MOST = 3


def keyword_match(candidate: Candidate, hints: QueryHints) -> tuple[Boost, ...]:
    """0.1 for each matched keyword in the candidate's keywords or content, for at most three."""
    found = matched_terms(candidate, "keywords", hints.matched_keywords)[:MOST]
    return tuple(Boost("keyword_match", AMOUNT, f"keyword:{term}") for term in found)
