"""Hints for a query, from a matcher that follows the catalogue."""

import anyio
import anyio.to_thread

from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hints import QueryHints, hint_terms, hints_from
from evidence_lookup.ports.catalogue import Catalogue
from evidence_lookup.ports.hint_matcher import BuildHintMatcher, HintMatcher


class HintIndex:
    """Matches queries against the catalogue's terms, rebuilt when its revision moves.

    While one lookup rebuilds, the others go on with the terms before.
    """

    def __init__(self, catalogue: Catalogue, build: BuildHintMatcher) -> None:
        self._catalogue = catalogue
        self._build = build
        self._lock = anyio.Lock()
        self._matcher: HintMatcher | None = None
        self._revision: str | None = None

    async def match(self, query: str, scope: Scope) -> QueryHints:
        """The hints that *query* gives, of documents in *scope* only.

        Raises:
            BackendError: the catalogue cannot be read.
        """
        matches = (await self._current()).match(query)
        return hints_from(term for term in matches if term.is_in(scope))

    async def _current(self) -> HintMatcher:
        if self._matcher is not None and self._lock.locked():
            return self._matcher
        revision = await self._catalogue.revision()
        async with self._lock:
            if self._matcher is None or revision != self._revision:
                entries = await self._catalogue.entries()
                self._matcher = await anyio.to_thread.run_sync(
                    lambda: self._build(hint_terms(entries))
                )
                self._revision = revision
            return self._matcher
