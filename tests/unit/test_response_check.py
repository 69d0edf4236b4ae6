"""What the shipped suites see in any response."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import FoundBy, KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.ports.knowledge_search import KnowledgeSearchResponse
from evidence_lookup.testing.knowledge_samples import asked
from evidence_lookup.testing.response_check import check_response


def _hit(name: str, value: float | None, rank: int, **metadata: Any) -> KnowledgeSearchHit:
    score = Score(value, ScoreSemantics.COSINE)
    metadata = {"tenant": "acme", "category": "ops", **metadata}
    return KnowledgeSearchHit(
        name, "text", score, metadata, score, (FoundBy(SearchMode.DENSE, rank),)
    )


HITS = (_hit("a", 0.9, 1), _hit("b", 0.5, 2), _hit("c", 0.5, 3), _hit("d", None, 4))
GOOD = KnowledgeSearchResponse(HITS, SearchMode.DENSE, "memory")
REQUEST = asked(top_k=4, scope=Scope({"tenant": "acme"}), category="ops")


def _with_hit(number: int, **changes: Any) -> KnowledgeSearchResponse:
    hits = list(HITS)
    hits[number] = evolve(hits[number], **changes)
    return evolve(GOOD, hits=tuple(hits))


def test_a_good_response_passes() -> None:
    """A response that keeps the port's promises is let through."""
    check_response(GOOD, REQUEST)
    check_response(evolve(GOOD, hits=()), REQUEST)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: evolve(GOOD, path=""),
        lambda: evolve(GOOD, mode=SearchMode.KEYWORD),
        lambda: evolve(GOOD, degraded=("hybrid_unavailable",)),
        lambda: evolve(GOOD, hits=(*HITS, _hit("e", None, 5))),
        lambda: evolve(GOOD, hits=(HITS[0], HITS[0])),
        lambda: evolve(GOOD, hits=HITS[::-1]),
        lambda: evolve(GOOD, hits=(_hit("b", 0.5, 1), _hit("a", 0.5, 2))),
        lambda: evolve(GOOD, hits=(_hit("a", None, 1), _hit("b", 0.1, 2))),
        lambda: _with_hit(1, metadata={"tenant": "other", "category": "ops"}),
        lambda: _with_hit(1, metadata={"tenant": "acme", "category": "food"}),
        lambda: _with_hit(1, metadata={"tenant": "acme", "category": "ops", "n": float("nan")}),
        lambda: _with_hit(1, metadata={"tenant": "acme", "category": "ops", "n": {1, 2}}),
        lambda: _with_hit(0, score=Score(0.9, ScoreSemantics.INNER_PRODUCT)),
        lambda: _with_hit(0, similarity_score=None),
        lambda: _with_hit(0, similarity_score=Score(0.9, ScoreSemantics.BM25)),
        lambda: _with_hit(0, similarity_score=Score(0.8, ScoreSemantics.COSINE)),
        lambda: _with_hit(0, found_by=()),
        lambda: _with_hit(0, found_by=(FoundBy(SearchMode.DENSE, 2),)),
    ],
)
def test_a_broken_promise_is_seen(bad: Callable[[], KnowledgeSearchResponse]) -> None:
    """Whatever one promise is broken, the check fails."""
    with pytest.raises((AssertionError, ValueError, TypeError)):
        check_response(bad(), REQUEST)
