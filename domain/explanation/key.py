"""Whether a text can be an evidence key at all."""

from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.errors import CallerError
from evidence_lookup.domain.identity import evidence_key, parse_evidence_key
from evidence_lookup.domain.text import has_controls

_PREFIXES = ("vector:", "rank:")


def is_evidence_key(text: str) -> bool:
    """Whether `domain.identity` could have made *text*."""
    if has_controls(text):
        return False
    if parse_evidence_key(text) is not None:
        return True
    return any(text.startswith(one) and bool(text[len(one) :].strip()) for one in _PREFIXES)


def check_key(text: str, document: CatalogueEntry | None = None) -> None:
    """Refuse a *text* that is no evidence key; *document* is the one whose id it is, if any.

    Raises:
        CallerError: it is none; the message says what one looks like.
    """
    if is_evidence_key(text):
        return
    told = f"{text!r} is no evidence key; one looks like runbooks/redis.md#chunk-3 or vector:ID"
    if document is not None and document.chunk_count:
        raise CallerError(f"{told}; of this document there are {chunk_keys(document)}")
    raise CallerError(f"{told}, as lookups show it")


def chunk_keys(document: CatalogueEntry) -> str:
    """The keys of the chunks of *document*, of which there is at least one."""
    first, last = (evidence_key(document.doc_id, one) for one in (0, document.chunk_count - 1))
    return first if first == last else f"{first} to {last}"
