"""Which of many terms stand in a query."""

from collections.abc import Sequence
from typing import Protocol

from evidence_lookup.domain.hints import HintTerm


class HintMatcher(Protocol):
    """Matches a fixed set of terms; made once for a catalogue's revision, used by every query."""

    def match(self, query: str) -> tuple[HintTerm, ...]:
        """The terms that stand in *query*, by place, then longest first; each once.

        Both are compared as `domain.text.normalise` gives them; an end of a term in an alphabetic
        script must be the end of a word, one in CJK need not. Takes time linear in the query,
        whatever the number of terms.
        """
        ...


class BuildHintMatcher(Protocol):
    """Makes a `HintMatcher`; takes time linear in the terms."""

    def __call__(self, terms: Sequence[HintTerm]) -> HintMatcher:
        """The matcher of *terms*."""
        ...
