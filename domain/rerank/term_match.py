"""Which hint terms stand in a candidate."""

from collections.abc import Iterable

from evidence_lookup.domain.candidate import Candidate
from evidence_lookup.domain.text import is_whole_word, normalise


def matched_terms(candidate: Candidate, name: str, terms: Iterable[str]) -> tuple[str, ...]:
    """Those of *terms* that the metadata list *name* holds, or the content as whole words."""
    wanted = tuple(terms)
    if not wanted:
        return ()
    listed = {normalise(text) for text in candidate.texts(name)}
    content = normalise(candidate.content)
    return tuple(
        term for term in wanted if (key := normalise(term)) in listed or _stands_in(content, key)
    )


def _stands_in(content: str, term: str) -> bool:
    start = content.find(term)
    while start >= 0:
        if is_whole_word(content, start, start + len(term)):
            return True
        start = content.find(term, start + 1)
    return False
