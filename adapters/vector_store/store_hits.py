"""What a store found, as hits: best first by the reported scores, ties by id."""

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING

from attrs import evolve

from evidence_lookup.adapters.vector_store.open_store import OpenStore
from evidence_lookup.domain.filters import is_allowed
from evidence_lookup.domain.hit import FoundBy, KnowledgeSearchHit, SearchMode
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest, KnowledgeSearchResponse

if TYPE_CHECKING:
    from langchain_core.documents import Document

    Found = tuple[Document, float]


def in_order(
    found: "Sequence[Found]", opened: OpenStore, request: KnowledgeSearchRequest
) -> "list[Found]":
    """What of *found* the request allows, in its final order.

    Documents without an id keep the store's order among equals, after those with one.
    """
    kept = [
        one
        for one in found
        # A second line: not every store tells 3 from "3", or minds the filter at all.
        if is_allowed(one[0].metadata, request.scope, request.hint_filter)
    ]

    def place(one: "Found") -> tuple[float, bool, str]:
        key = opened.id_of(one[0])
        return -_goodness(one, opened), key is None, key or ""

    return sorted(kept, key=place)


def is_settled(ordered: "Sequence[Found]", opened: OpenStore, wanted: int) -> bool:
    """Whether no document that was not fetched could stand among the first *wanted*."""
    if len(ordered) <= wanted:
        return False
    return _goodness(ordered[wanted - 1], opened) != _goodness(ordered[-1], opened)


def hits(ordered: "Sequence[Found]", opened: OpenStore) -> tuple[KnowledgeSearchHit, ...]:
    """The hits of *ordered*, ranked from 1."""
    return tuple(_hit(one, rank, opened) for rank, one in enumerate(ordered, start=1))


def as_reported(response: KnowledgeSearchResponse) -> KnowledgeSearchResponse:
    """A response of one list, ordered by another number, in the order of its scores and ids."""
    ordered = sorted(response.hits, key=lambda hit: (-hit.score.goodness, str(hit.id)))
    ranked = (
        evolve(hit, found_by=(FoundBy(response.mode, rank),))
        for rank, hit in enumerate(ordered, start=1)
    )
    return evolve(response, hits=tuple(ranked))


def _goodness(found: "Found", opened: OpenStore) -> float:
    # Distances beyond a right angle are all reported as one relevance.
    return opened.score.similarity(found[1]).goodness


def _hit(found: "Found", rank: int, opened: OpenStore) -> KnowledgeSearchHit:
    document, number = found
    score = opened.score.similarity(number)
    return KnowledgeSearchHit(
        id=opened.id_of(document),
        content=document.page_content,
        score=score,
        # A store in memory gives the very object that it keeps.
        metadata=deepcopy(document.metadata),
        similarity_score=score,
        found_by=(FoundBy(SearchMode.DENSE, rank),),
    )
