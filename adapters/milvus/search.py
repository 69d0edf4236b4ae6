"""Dense, keyword and hybrid search over one collection.

Equal scores are ordered by id. The backend gives ties in any order, so that a list is fetched
longer than asked until its last row scores worse than the last one wanted (or `MAX_ROWS` are
there), then sorted here.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from evidence_lookup.adapters.milvus.client import MilvusConnection
from evidence_lookup.adapters.milvus.expression import filter_expression
from evidence_lookup.adapters.milvus.rows import FoundRow, found_row
from evidence_lookup.adapters.milvus.schema import Layout
from evidence_lookup.adapters.vectors import check_vector
from evidence_lookup.domain.errors import BackendFailedError, UnsupportedModeError
from evidence_lookup.domain.fusion import Fusion, RankedList
from evidence_lookup.domain.hit import FoundBy, KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.domain.text import clean, cut
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
)

if TYPE_CHECKING:
    from evidence_lookup.ports.embedder import Vectors

MAX_ROWS = 16_384
MAX_QUERY_CHARACTERS = 8_192
PATH = "milvus"
_LEAST_FUSED = 30
_SPARE = 8
_NO_TEXTS = "Invalid sparse row: NaN"


@frozen
class Weights:
    """How much each list counts in a hybrid search, from 0."""

    dense: float = 1.0
    keyword: float = 1.0


async def search(
    connection: MilvusConnection,
    request: KnowledgeSearchRequest,
    *,
    fusion: Fusion,
    weights: Weights,
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
        if mode is SearchMode.HYBRID:
            hits = await one.hybrid(fusion, weights)
        else:
            hits = await one.single(mode)
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

    async def single(self, mode: SearchMode) -> tuple[KnowledgeSearchHit, ...]:
        rows = await self._rows(mode, self.request.top_k)
        return tuple(
            self._hit(row, self._score(row, mode), (FoundBy(mode, rank),))
            for rank, row in enumerate(_of_one_version(rows), start=1)
        )

    async def hybrid(self, fusion: Fusion, weights: Weights) -> tuple[KnowledgeSearchHit, ...]:
        wanted = max(self.request.top_k, _LEAST_FUSED)
        modes = (SearchMode.DENSE, SearchMode.KEYWORD)
        lists = await asyncio.gather(*(self._rows(mode, wanted) for mode in modes))
        newest = {row.id: row for row in _of_one_version([row for rows in lists for row in rows])}
        found: dict[str, list[FoundBy]] = {}
        ranked: list[RankedList] = []
        for mode, rows, weight in zip(modes, lists, (weights.dense, weights.keyword), strict=True):
            kept = [row for row in rows if row.id in newest]
            ranked.append(
                RankedList(tuple((row.id, self._score(row, mode)) for row in kept), weight)
            )
            for rank, row in enumerate(kept, start=1):
                found.setdefault(row.id, []).append(FoundBy(mode, rank))
        fused = sorted(fusion(ranked), key=lambda item: (-item[1].goodness, item[0]))
        return tuple(
            self._hit(newest[key], score, tuple(found[key]))
            for key, score in fused[: self.request.top_k]
        )

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

    def _hit(
        self, row: FoundRow, score: Score, found_by: tuple[FoundBy, ...]
    ) -> KnowledgeSearchHit:
        return KnowledgeSearchHit(
            id=row.id,
            content=row.content,
            score=score,
            metadata=row.metadata,
            similarity_score=self._similarity(row),
            found_by=found_by,
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


def similarity(query: "Vectors", stored: "Vectors", semantics: ScoreSemantics) -> float:
    """What the dense search would have said of *stored*."""
    import numpy as np

    a, b = query.astype(np.float64), stored.astype(np.float64)
    match semantics:
        case ScoreSemantics.L2_SQUARED:
            return float(np.dot(a - b, a - b))
        case ScoreSemantics.INNER_PRODUCT:
            return float(np.dot(a, b))
        case _:
            return float(np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b)))


def words(query: str) -> str:
    """The words of *query* for the keyword path, bounded; marks are no words."""
    bounded = clean(cut(query, MAX_QUERY_CHARACTERS))
    text = "".join(char if char.isalnum() or ord(char) > 127 else " " for char in bounded)
    return " ".join(text.split()) if any(char.isalnum() for char in text) else ""


def _of_one_version(rows: Sequence[FoundRow]) -> list[FoundRow]:
    """*rows* without those of an older version of a document that is there in a newer one."""
    newest: dict[object, int] = {}
    for row in rows:
        if row.version is not None:
            document = row.metadata.get("doc_id")
            newest[document] = max(row.version, newest.get(document, row.version))
    return [
        row
        for row in rows
        if row.version is None or row.version == newest[row.metadata.get("doc_id")]
    ]
