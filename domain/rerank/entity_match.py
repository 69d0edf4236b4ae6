"""An entity of the query's hints stands in the candidate."""

from evidence_lookup.domain.candidate import Candidate
from evidence_lookup.domain.hints import QueryHints
from evidence_lookup.domain.rerank.boost import Boost
from evidence_lookup.domain.rerank.term_match import matched_terms

AMOUNT = 0.1
MOST = 3


def entity_match(candidate: Candidate, hints: QueryHints) -> tuple[Boost, ...]:
    """0.1 for each matched entity in the candidate's entities or content, for at most three."""
    found = matched_terms(candidate, "entities", hints.entities)[:MOST]
    return tuple(Boost("entity_match", AMOUNT, f"entity:{term}") for term in found)
