"""Dense, keyword and hybrid search over one index.

Equal scores are ordered by id. A dense search gives ties in any order, so that its list is
fetched longer than asked until its last row scores worse than the last one wanted (or `MAX_ROWS`
are there), then sorted here; so is any list of an index that others made, whose ids the server
cannot sort by, and of which rows may fall away when they are judged by their metadata.
"""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from evidence_lookup.adapters.elasticsearch import query
from evidence_lookup.adapters.elasticsearch.client import ElasticsearchConnection
from evidence_lookup.adapters.elasticsearch.driver import Driver, body_of
from evidence_lookup.adapters.elasticsearch.helper_fields import EVIDENCE_KEY
from evidence_lookup.adapters.elasticsearch.layout import Layout
from evidence_lookup.adapters.elasticsearch.rows import FoundRow, found_row, source_fields
from evidence_lookup.adapters.known_layout import LayoutChangedError
from evidence_lookup.adapters.merging import Merged, Merger, mode_to_run
from evidence_lookup.adapters.similarity import similarity
from evidence_lookup.adapters.vectors import check_vector
from evidence_lookup.domain.filters import is_allowed
from evidence_lookup.domain.hit import KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
)

MAX_ROWS = 10_000
PATH = "elasticsearch"
_SPARE = 8
# Of 20,000 random vectors in 384 dimensions, the hardest there are, 98 of 100 nearest are found.
_LEAST_CANDIDATES = 400
# Copies of a shard count deleted rows differently: one copy gives one score.
_PREFERENCE = "evidence-lookup"


async def search(
    connection: ElasticsearchConnection, request: KnowledgeSearchRequest, *, merger: Merger
) -> KnowledgeSearchResponse:
    """The answer of `KnowledgeSearchPort.search`."""

    async def attempt(layout: Layout) -> KnowledgeSearchResponse:
        mode, degraded = mode_to_run(request, has_keyword=layout.keyword_field is not None)
        if request.vector is not None:
            check_vector(request.vector, layout.dimension, what="the query's vector")
        hits = await _Search(connection, request, layout).hits(mode, merger)
        return KnowledgeSearchResponse(hits=hits, mode=mode, path=PATH, degraded=degraded)

    return await connection.known_layout.search(attempt)


@frozen
class _Search:
    """One request on its way."""

    connection: ElasticsearchConnection
    request: KnowledgeSearchRequest
    layout: Layout

    async def hits(self, mode: SearchMode, merger: Merger) -> tuple[KnowledgeSearchHit, ...]:
        """What is found in *mode*, which the index can run."""
        found = await merger.merged_rows(
            mode, self._rows, lambda row, _: row.score, top_k=self.request.top_k
        )
        return tuple(self._hit(row, merged) for row, merged in found)

    async def _rows(self, mode: SearchMode, wanted: int) -> list[FoundRow]:
        """The best *wanted* rows in scope, ties by id."""
        asked = self._asked(mode)
        wanted = min(wanted, MAX_ROWS)
        if wanted < 1 or asked is None:
            return []
        is_sorted = mode is SearchMode.KEYWORD and self.layout.is_own
        limit = wanted if is_sorted else min(wanted + _SPARE, MAX_ROWS)
        while True:
            found = await self._fetch(mode, asked, limit)
            kept = [row for row in found if self._is_allowed(row)]
            kept.sort(key=_order)
            is_settled = len(kept) > wanted and kept[wanted - 1].score != kept[-1].score
            is_settled = is_settled or (is_sorted and len(kept) == wanted)
            if is_settled or len(found) < limit or limit == MAX_ROWS:
                return kept[:wanted]
            limit = min(limit * 4, MAX_ROWS)

    def _is_allowed(self, row: FoundRow) -> bool:
        return is_allowed(row.metadata, self.request.scope, self.request.hint_filter)

    def _asked(self, mode: SearchMode) -> dict[str, Any] | None:
        """The filters, and the words of a keyword search; None where it has no words."""
        settings = self.connection.settings
        within = query.clauses(
            query.conditions(self.request.scope, self.request.hint_filter), self.layout, settings
        )
        if mode is not SearchMode.KEYWORD:
            return {"within": within}
        text = query.words(self.request.query, self.layout)
        return {"within": within, "text": text} if text else None

    async def _fetch(self, mode: SearchMode, asked: dict[str, Any], limit: int) -> list[FoundRow]:
        settings = self.connection.settings
        vector = self.request.vector
        if mode is SearchMode.KEYWORD:
            assert self.layout.keyword_field is not None
            body = query.keyword(self.layout.keyword_field, **asked)
            if self.layout.is_own:
                body["sort"] = [{"_score": "desc"}, {EVIDENCE_KEY: "asc"}]
            if vector is not None:
                # The similarity of a keyword hit is known without a second search.
                body["fields"] = [settings.vector_field]
        else:
            assert vector is not None
            body = query.dense(
                settings.vector_field,
                vector.tolist(),
                limit=limit,
                candidates=min(max(4 * limit, _LEAST_CANDIDATES), MAX_ROWS),
                is_exact=self.layout.is_exact,
                **asked,
            )
        body |= {
            "size": limit,
            "_source": source_fields(self.layout, settings),
            "track_total_hits": False,
        }

        async def ask(driver: Driver) -> Mapping[str, Any]:
            answer = await driver.search(
                index=settings.index,
                body=body,
                allow_partial_search_results=False,
                preference=_PREFERENCE,
            )
            return body_of(answer, "hits")

        hits = (await self.connection.call(ask))["hits"]["hits"]
        if any(hit.get("_index", self.layout.index) != self.layout.index for hit in hits):
            raise LayoutChangedError(
                f"{settings.index!r} (elasticsearch.index) became another index during the search"
            )
        return [found_row(hit, mode, self.layout, settings) for hit in hits]

    def _hit(self, row: FoundRow, merged: Merged) -> KnowledgeSearchHit:
        return KnowledgeSearchHit(
            id=row.id,
            content=row.content,
            score=merged.score,
            metadata=row.metadata,
            similarity_score=self._similarity(row),
            found_by=merged.found_by,
        )

    def _similarity(self, row: FoundRow) -> Score | None:
        if row.score.semantics is self.layout.semantics:
            return row.score
        if self.request.vector is None or row.vector is None:
            return None
        value = similarity(self.request.vector, row.vector, self.layout.semantics)
        return Score(value, self.layout.semantics)


def _order(row: FoundRow) -> tuple[float, str]:
    # Where the server gives no numbers, its order is all there is.
    is_ranked = row.score.semantics is ScoreSemantics.RANK_ONLY
    return (-row.score.goodness, "" if is_ranked else row.id)
