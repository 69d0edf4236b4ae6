"""Dense, keyword and hybrid search over one collection.

Equal scores are ordered by id. The backend gives ties in any order, so that a list is fetched
longer than asked until its last row scores worse than the last one wanted (or `MAX_ROWS` are
there), then sorted here.
"""

import asyncio
from typing import Any

from attrs import frozen

from evidence_lookup.adapters.merging import Merged, Merger, list_length, parts
from evidence_lookup.adapters.milvus.client import MilvusConnection
from evidence_lookup.adapters.milvus.expression import filter_expression
from evidence_lookup.adapters.milvus.query_words import words
from evidence_lookup.adapters.milvus.rows import FoundRow, found_row
from evidence_lookup.adapters.milvus.schema import Layout
from evidence_lookup.adapters.similarity import similarity
from evidence_lookup.adapters.vectors import check_vector
from evidence_lookup.adapters.versions import newest_versions
from evidence_lookup.domain.errors import BackendFailedError, UnsupportedModeError
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


async def search(
    connection: MilvusConnection, request: KnowledgeSearchRequest, *, merger: Merger
) -> KnowledgeSearchResponse:
    """The answer of `KnowledgeSearchPort.search`."""
    if request.vector is None and request.mode is not SearchMode.KEYWORD:
        raise UnsupportedModeError(f"a {request.mode} search needs the query's vector")
    layout = await connection.layout()
    mode, degraded = _mode(request, layout)
    if request.vector is not None:
        check_vector(request.vector, layout.dimension, what="the query's vector")
    one = _Search(connection, request, layout)
    async with connection.reading():
        hits = await one.hits(mode, merger)
    return KnowledgeSearchResponse(hits=hits, mode=mode, path=PATH, degraded=degraded)


def _mode(request: KnowledgeSearchRequest, layout: Layout) -> tuple[SearchMode, tuple[str, ...]]:
    if layout.has_keyword or request.mode is SearchMode.DENSE:
        return request.mode, ()
    if request.vector is None:
        raise UnsupportedModeError(
            "the collection has no keyword index, and a dense search needs the query's vector"
        )
    return SearchMode.DENSE, (f"{request.mode}_unavailable",)


@frozen
class _Search:
    """One request on its way."""

    connection: MilvusConnection
    request: KnowledgeSearchRequest
    layout: Layout

    async def hits(self, mode: SearchMode, merger: Merger) -> tuple[KnowledgeSearchHit, ...]:
        """What is found in *mode*, which the collection can run."""
        wanted = list_length(mode, self.request.top_k)
        lists = await asyncio.gather(*(self._rows(part, wanted) for part in parts(mode)))
        versions = newest_versions(row for rows in lists for row in rows)
        rows: dict[str, FoundRow] = {}
        entries: dict[SearchMode, list[tuple[str, Score]]] = {}
        for part, found in zip(parts(mode), lists, strict=True):
            kept = [
                row for row in found if row.version is None or row.version == versions[row.doc_id]
            ]
            rows.update((row.id, row) for row in kept)
            entries[part] = [(row.id, self._score(row, part)) for row in kept]
        merged = merger.merged(entries, top_k=self.request.top_k)
        return tuple(self._hit(rows[one.key], one) for one in merged)

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
        fields = [settings.content_field, settings.metadata_field]
        vector = self.request.vector
        data: list[Any]
        if mode is SearchMode.KEYWORD:
            data, field = [text], settings.sparse_field
            if vector is not None:
                # The similarity of a keyword hit is known without a second search.
                fields.append(settings.vector_field)
        else:
            assert vector is not None
            data, field = [vector.tolist()], settings.vector_field
        # In every search: a filter over a fused search is ignored by the server.
        expression = filter_expression(
            settings.metadata_field, self.request.scope, self.request.hint_filter
        )
        try:
            answer = await self.connection.call(
                lambda driver: driver.search(
                    settings.collection,
                    data=data,
                    anns_field=field,
                    filter=expression,
                    limit=limit,
                    output_fields=fields,
                    consistency_level=settings.consistency,
                    timeout=settings.timeout_seconds,
                )
            )
        except BackendFailedError as error:
            # milvus-lite divides by the average length of the texts: nothing is there to be found.
            if mode is SearchMode.KEYWORD and _NO_TEXTS in str(error):
                return []
            raise
        return [found_row(hit, self.layout, settings) for hit in answer[0]] if answer else []

    def _is_allowed(self, row: FoundRow) -> bool:
        # A second line: in JSON, 3 equals a stored 3.0, which a scope tells apart.
        return not row.is_tombstone and self.request.scope.allows(row.metadata)

    def _score(self, row: FoundRow, mode: SearchMode) -> Score:
        if mode is SearchMode.KEYWORD:
            # milvus-lite 3 gives BM25 with the sign turned.
            return Score(abs(row.distance), ScoreSemantics.BM25)
        return Score(row.distance, self.layout.semantics)

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
        if self.request.vector is None:
            return None
        if row.vector is None:  # only dense lists come without
            return Score(row.distance, self.layout.semantics)
        return Score(
            similarity(self.request.vector, row.vector, self.layout.semantics),
            self.layout.semantics,
        )
