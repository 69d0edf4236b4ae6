"""What is recorded of a query where the host has a say in it."""

import logging
from collections.abc import Callable

from attrs import frozen

from evidence_lookup.domain.text import clean

_log = logging.getLogger(__name__)

REDACTION_FAILED = "[redaction failed]"


@frozen
class Redaction:
    """A host's function from a query to what is recorded of it.

    The function sees the whole query, before it is cut for the record. Where it raises, or gives
    no text, `REDACTION_FAILED` is recorded, never the query.
    """

    redact: Callable[[str], str]

    def __call__(self, query: str) -> str:
        """What is recorded of *query*; never raises."""
        try:
            return clean(str.__str__(self.redact(query)))
        except Exception as error:
            # Not its message, which may hold the query.
            _log.warning("trace.redact failed with %s; the query is left out", type(error).__name__)
            return REDACTION_FAILED
