"""Quotes against the excerpts of this conversation."""

from collections.abc import Iterable, Sequence

from evidence_lookup.domain.evidence_guard.excerpts import Excerpt, Excerpts
from evidence_lookup.domain.evidence_guard.quote_match import matchable, quote_parts, stands_in
from evidence_lookup.domain.evidence_guard.report import QuoteFinding, QuoteState

Place = tuple[str, int | None, int | None]
"""The path of the text that holds a quote, and its start and end there."""


class QuoteCheck:
    """Looks quotes up in *excerpts*; each excerpt is brought into comparable form once."""

    def __init__(self, excerpts: Excerpts) -> None:
        self._excerpts = excerpts
        self._matchable: dict[str, str] = {}

    def check(
        self, quote: str, cited: Sequence[str | None], place: Place
    ) -> tuple[int, QuoteFinding] | None:
        """The finding on *quote*, and which of *cited* it belongs to, by position.

        That is the first whose excerpt holds it; else the first of which not all is known, and
        then the first that is known at all. None where *quote* has nothing to compare.
        """
        parts = quote_parts(quote)
        if not parts:
            return None
        for position, key in enumerate(cited):
            if key is not None and self._any_holds(parts, self._excerpts.get(key, ())):
                return position, QuoteFinding(quote, *place, QuoteState.FOUND)
        found_in = tuple(
            key
            for key, excerpts in self._excerpts.items()
            if key not in cited and self._any_holds(parts, excerpts)
        )
        for position, key in enumerate(cited):
            excerpts = () if key is None else self._excerpts.get(key, ())
            partial = [one for one in excerpts if not one.is_whole]
            if partial:
                state, reason = QuoteState.UNCHECKED, partial[0].reason
                return position, QuoteFinding(quote, *place, state, reason, found_in)
        known = next((at for at, key in enumerate(cited) if key is not None), 0)
        return known, QuoteFinding(quote, *place, QuoteState.NOT_FOUND, None, found_in)

    def _any_holds(self, parts: Sequence[str], excerpts: Iterable[Excerpt]) -> bool:
        return any(stands_in(parts, self._form(one.content)) for one in excerpts)

    def _form(self, content: str) -> str:
        if content not in self._matchable:
            self._matchable[content] = matchable(content)
        return self._matchable[content]
