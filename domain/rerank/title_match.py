"""The query's hints point to the candidate's document."""

from evidence_lookup.domain.candidate import Candidate
from evidence_lookup.domain.hints import QueryHints
from evidence_lookup.domain.rerank.boost import Boost

AMOUNT = 0.15


def title_match(candidate: Candidate, hints: QueryHints) -> tuple[Boost, ...]:
    """0.15 where the candidate's title is among the matched titles.

    A title is matched when any of its document's hint terms stands in the query.
    """
    title = candidate.text("title")
    if title is None or title not in hints.matched_titles:
        return ()
    return (Boost("title_match", AMOUNT, f"title:{title}"),)
