"""The first step: what the query asks for, and what it matched (L0)."""

from attrs import frozen

from evidence_lookup.application.guard import guarded
from evidence_lookup.application.hint_index import HintIndex
from evidence_lookup.domain.errors import EvidenceLookupError, message_of
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hints import QueryHints
from evidence_lookup.domain.record import RECORDED_QUERY_LENGTH
from evidence_lookup.domain.text import cut
from evidence_lookup.domain.trace import RECORD_PATH, QueryCut, QueryTransform

_MOST_HINTS = 100
"""Of each kind; a pasted log may match thousands, and each is looked for in each candidate."""
_RECORDED_HINTS = 20


@frozen
class TransformedQuery:
    """A query ready for retrieval. `warnings` says what could not be used."""

    query: str
    scope: Scope
    hints: QueryHints
    warnings: tuple[str, ...] = ()

    def trace(self, cuts: tuple[QueryCut, ...] = ()) -> QueryTransform:
        """The transform as traces keep it, with the *cuts* that retrieval made, and their own."""
        hint_filter = self.hints.filter
        query = cut(self.query, RECORDED_QUERY_LENGTH)
        if query != self.query:
            cuts = (*cuts, QueryCut(RECORD_PATH, len(self.query), len(query)))
        return QueryTransform(
            query=query,
            hints=self.hints.bounded(_RECORDED_HINTS),
            hint_filter=hint_filter.category if hint_filter else None,
            scope=tuple(self.scope.values),
            cuts=cuts,
        )


async def transform_query(
    query: str, scope: Scope, hint_index: HintIndex, *, deadline: float
) -> TransformedQuery:
    """*query* with its hints, asked for until *deadline*, a moment of `anyio.current_time`.

    A catalogue that fails or is slow, whatever it raises, costs the hints, not the lookup.
    """
    try:
        with guarded(deadline=deadline):
            hints = await hint_index.match(query, scope)
        return TransformedQuery(query, scope, hints.bounded(_MOST_HINTS))
    except EvidenceLookupError as error:
        warning = f"hints_unavailable: {message_of(error)}"
        return TransformedQuery(query, scope, QueryHints(), (warning,))
