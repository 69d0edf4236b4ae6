"""Whether a text can be an evidence key at all."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from heapq import nlargest
from itertools import pairwise

from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.errors import CallerError
from evidence_lookup.domain.identity import evidence_key, parse_evidence_key
from evidence_lookup.domain.text import has_controls

_PREFIXES = ("vector:", "rank:")
_MOST_MEANT = 3
_MOST_COMPARED = 200


def is_evidence_key(text: str) -> bool:
    """Whether `domain.identity` could have made *text*."""
    if has_controls(text):
        return False
    if parse_evidence_key(text) is not None:
        return True
    return any(text.startswith(one) and bool(text[len(one) :].strip()) for one in _PREFIXES)


def check_key(text: str, documents: Sequence[CatalogueEntry] = ()) -> None:
    """Refuse a *text* that is no evidence key; *documents* are those that it may mean.

    Raises:
        CallerError: it is none; the message says what one looks like.
    """
    if is_evidence_key(text):
        return
    told = f"{text!r} is no evidence key; one looks like runbooks/redis.md#chunk-3 or vector:ID"
    if documents:
        raise CallerError(f"{told}; there are {'; '.join(map(chunk_keys, documents))}")
    raise CallerError(f"{told}, as lookups show it")


def documents_meant(name: str, documents: Iterable[CatalogueEntry]) -> tuple[CatalogueEntry, ...]:
    """Those of *documents* that *name* may mean: by its id or source, else at most three like it.

    A document without chunks is none of them.
    """
    there = [one for one in documents if one.chunk_count]
    exact = tuple(one for one in there if name in (one.doc_id, one.source))
    if exact:
        return exact[:_MOST_MEANT]
    by_name = {one.source: one for one in there} | {one.doc_id: one for one in there}
    pairs = _pairs(name)
    # The close look takes 0.3 ms a name, which is too long for each name of a large catalogue.
    likely = nlargest(_MOST_COMPARED, by_name, key=lambda one: _shared(pairs, _pairs(one)))
    near = get_close_matches(name, likely, n=_MOST_MEANT, cutoff=0.75)
    return tuple({by_name[one].doc_id: by_name[one] for one in near}.values())


def _pairs(name: str) -> set[str]:
    return {one + other for one, other in pairwise(name)}


def _shared(one: set[str], other: set[str]) -> float:
    return len(one & other) / (len(one) + len(other) or 1)


def chunk_keys(document: CatalogueEntry) -> str:
    """The keys of the chunks of *document*, of which there is at least one."""
    first, last = (evidence_key(document.doc_id, one) for one in (0, document.chunk_count - 1))
    return first if first == last else f"{first} to {last}"
