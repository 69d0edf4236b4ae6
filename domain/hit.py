"""What a search port finds."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from evidence_lookup.domain.score import Score


class SearchMode(StrEnum):
    """How the knowledge base is searched."""

    DENSE = "dense"
    """By vectors: what a text means."""
    KEYWORD = "keyword"
    """By words (BM25): what a text says."""
    HYBRID = "hybrid"
    """Both lists, fused by a rule of the domain."""


@frozen
class FoundBy:
    """A list that held the hit, and its rank there, from 1."""

    mode: SearchMode
    rank: int


@frozen
class KnowledgeSearchHit:
    """One chunk as the backend returned it.

    `score` is what the backend ordered by. `similarity_score` is the dense score of the same
    chunk where one is known, whatever the mode: floors and thresholds are judged on it.
    """

    id: str | None
    content: str
    score: Score
    metadata: Mapping[str, Any] = field(factory=dict[str, Any])
    similarity_score: Score | None = None
    found_by: tuple[FoundBy, ...] = ()
