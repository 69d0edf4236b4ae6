"""Dense, keyword and hybrid search over one collection.

Equal scores are ordered by id. The backend gives ties in any order, so that a list is fetched
longer than asked until its last row scores worse than the last one wanted (or `MAX_ROWS` are
there), then sorted here.
"""

from collections.abc import Callable

from attrs import frozen

from evidence_lookup.adapters.merging import Merged, Merger, mode_to_run
from evidence_lookup.adapters.milvus.client import MilvusConnection
from evidence_lookup.adapters.milvus.expression import filter_expression
from evidence_lookup.adapters.milvus.fetch import Fetch, RowQuery, fetch_with_sdk
from evidence_lookup.adapters.milvus.query_words import words
from evidence_lookup.adapters.milvus.rows import FoundRow, found_row
from evidence_lookup.adapters.milvus.schema import Layout
from evidence_lookup.adapters.similarity import similarity
from evidence_lookup.adapters.vectors import check_vector
from evidence_lookup.domain.errors import BackendFailedError
from evidence_lookup.domain.filters import is_allowed
from evidence_lookup.domain.hit import KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
)

MAX_ROWS = 16_384
PATH = "milvus"
_SPARE = 8
_NO_TEXTS = "Invalid sparse row: NaN"


def as_it_is(score: Score) -> Score:
    """The score that the backend gave."""
    return score


async def search(
    connection: MilvusConnection,
    request: KnowledgeSearchRequest,
    *,
    merger: Merger,
    fetch: Fetch = fetch_with_sdk,
    reported: Callable[[Score], Score] = as_it_is,
    path: str = PATH,
) -> KnowledgeSearchResponse:
    """The answer of `KnowledgeSearchPort.search`.

    *fetch* asks for each list. Hits are ordered by the backend's own numbers; *reported* turns
    them into the scores that stand in the response.
    """

    async def attempt(layout: Layout) -> KnowledgeSearchResponse:
        mode, degraded = mode_to_run(request, has_keyword=layout.has_keyword)
        if request.vector is not None:
            check_vector(request.vector, layout.dimension, what="the query's vector")
        one = _Search(connection, request, layout, fetch, reported)
        async with connection.reading():
            hits = await one.hits(mode, merger)
        return KnowledgeSearchResponse(hits=hits, mode=mode, path=path, degraded=degraded)

    return await connection.known_layout.search(attempt)


@frozen
class _Search:
    """One request on its way."""

    connection: MilvusConnection
    request: KnowledgeSearchRequest
    layout: Layout
    fetch: Fetch
    reported: Callable[[Score], Score]

    async def hits(self, mode: SearchMode, merger: Merger) -> tuple[KnowledgeSearchHit, ...]:
        """What is found in *mode*, which the collection can run."""
        found = await merger.merged_rows(mode, self._rows, self._score, top_k=self.request.top_k)
        return tuple(self._hit(row, merged) for row, merged in found)

    async def _rows(self, mode: SearchMode, wanted: int) -> list[FoundRow]:
        """The best *wanted* rows in scope, ties by id."""
        wanted = min(wanted, MAX_ROWS)
        text = words(self.request.query) if mode is SearchMode.KEYWORD else ""
        if wanted < 1 or (mode is SearchMode.KEYWORD and not text):
            return []
        limit = min(wanted + _SPARE, MAX_ROWS)
        while True:
            found = await self._fetch(mode, text, limit)
            kept = [row for row in found if self._is_allowed(row)]
            kept.sort(key=lambda row: (-self._score(row, mode).goodness, row.id))
            settled = len(kept) > wanted and (
                self._score(kept[wanted - 1], mode).value != self._score(kept[-1], mode).value
            )
            if settled or len(found) < limit or limit == MAX_ROWS:
                return kept[:wanted]
            limit = min(limit * 4, MAX_ROWS)

    async def _fetch(self, mode: SearchMode, text: str, limit: int) -> list[FoundRow]:
        settings = self.connection.settings
        query = RowQuery(
            mode=mode,
            vector=self.request.vector,
            text=text,
            # In every search: a filter over a fused search is ignored by the server.
            expression=filter_expression(
                settings.metadata_field, self.request.scope, self.request.hint_filter
            ),
            limit=limit,
        )
        try:
            found = await self.fetch(self.connection, query)
        except BackendFailedError as error:
            # milvus-lite divides by the average length of the texts: nothing is there to be found.
            if mode is SearchMode.KEYWORD and _NO_TEXTS in str(error):
                return []
            raise
        return [found_row(hit, self.layout, settings) for hit in found]

    def _is_allowed(self, row: FoundRow) -> bool:
        # A second line: in JSON, 3 equals a stored 3.0, which a scope tells apart.
        if row.is_tombstone:
            return False
        return is_allowed(row.metadata, self.request.scope, self.request.hint_filter)

    def _score(self, row: FoundRow, mode: SearchMode) -> Score:
        if mode is SearchMode.KEYWORD:
            # milvus-lite 3 gives BM25 with the sign turned.
            return Score(abs(row.distance), ScoreSemantics.BM25)
        return Score(row.distance, self.layout.semantics)

    def _hit(self, row: FoundRow, merged: Merged) -> KnowledgeSearchHit:
        return KnowledgeSearchHit(
            id=row.id,
            content=row.content,
            score=self.reported(merged.score),
            metadata=row.metadata,
            similarity_score=self._similarity(row),
            found_by=merged.found_by,
        )

    def _similarity(self, row: FoundRow) -> Score | None:
        if self.request.vector is None:
            return None
        semantics = self.layout.semantics
        if row.vector is None:  # only dense lists come without
            return self.reported(Score(row.distance, semantics))
        value = similarity(self.request.vector, row.vector, semantics)
        return self.reported(Score(value, semantics))
