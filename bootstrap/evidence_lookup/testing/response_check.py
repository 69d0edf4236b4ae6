"""What holds of every response of every search port, whatever was asked."""

import json

from evidence_lookup.domain.hit import FoundBy, SearchMode
from evidence_lookup.domain.score import ScoreSemantics
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest, KnowledgeSearchResponse

DENSE_SEMANTICS = frozenset(
    {
        ScoreSemantics.COSINE, ScoreSemantics.INNER_PRODUCT, ScoreSemantics.L2_SQUARED,
        ScoreSemantics.RELEVANCE,
    }
)  # fmt: skip
"""What a dense score may mean."""


def check_response(response: KnowledgeSearchResponse, request: KnowledgeSearchRequest) -> None:
    """Assert that *response* keeps `KnowledgeSearchPort.search`, as far as it shows by itself."""
    _check_mode(response, request)
    _check_filters(response, request)
    _check_order(response, request)
    _check_scores(response, request)
    _check_found_by(response)
    for hit in response.hits:
        json.dumps([hit.id, hit.content, hit.score.value, dict(hit.metadata)], allow_nan=False)


def _check_mode(response: KnowledgeSearchResponse, request: KnowledgeSearchRequest) -> None:
    assert response.path, "the response does not name its path"
    if response.mode is request.mode:
        assert response.degraded == ()
    else:
        assert response.mode is SearchMode.DENSE
        assert response.degraded == (f"{request.mode}_unavailable",)


def _check_filters(response: KnowledgeSearchResponse, request: KnowledgeSearchRequest) -> None:
    for hit in response.hits:
        assert request.scope.allows(hit.metadata), f"{hit.id} is out of scope"
        if request.hint_filter is not None:
            assert hit.metadata.get("category") == request.hint_filter.category


def _check_order(response: KnowledgeSearchResponse, request: KnowledgeSearchRequest) -> None:
    assert len(response.hits) <= max(request.top_k, 0)
    ids = [str(hit.id) for hit in response.hits]
    assert len(set(ids)) == len(ids), f"a hit came twice: {ids}"
    places = [(-hit.score.goodness, str(hit.id)) for hit in response.hits]
    # A score without a value is minus infinity here, so that it is never best (C18, C26).
    assert places == sorted(places), "not best first, or ties not by id"


def _check_scores(response: KnowledgeSearchResponse, request: KnowledgeSearchRequest) -> None:
    """One response has one semantics (R34), the one of its mode."""
    semantics = {hit.score.semantics for hit in response.hits}
    assert len(semantics) <= 1
    if response.mode is SearchMode.DENSE:
        assert semantics <= DENSE_SEMANTICS
    if response.mode is SearchMode.KEYWORD:
        assert semantics <= {ScoreSemantics.BM25}
    similarities = [hit.similarity_score for hit in response.hits]
    if request.vector is None:
        assert similarities == [None] * len(similarities)
        return
    for hit, similarity in zip(response.hits, similarities, strict=True):
        assert similarity is not None, f"{hit.id} has no similarity though a vector was given"
        assert similarity.semantics in DENSE_SEMANTICS
        if response.mode is SearchMode.DENSE:
            assert similarity == hit.score


def _check_found_by(response: KnowledgeSearchResponse) -> None:
    if response.mode is not SearchMode.HYBRID:
        for rank, hit in enumerate(response.hits, start=1):
            assert hit.found_by == (FoundBy(response.mode, rank),)
        return
    for hit in response.hits:
        assert hit.found_by, f"{hit.id} was found by no list"
        assert all(found.rank >= 1 for found in hit.found_by)
    every = [found for hit in response.hits for found in hit.found_by]
    assert len(set(every)) == len(every), "one rank of one list was given twice"
    assert {found.mode for found in every} <= {SearchMode.DENSE, SearchMode.KEYWORD}
