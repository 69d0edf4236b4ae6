"""Where a search that asks for more has a chunk."""

from attrs import frozen

from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.path_try import TraceError
from evidence_lookup.domain.score import Score


@frozen
class Standing:
    """A chunk's place in the list of one search of `depth` hits, which gave `count`.

    `rank` counts from 1, and is None where the list does not hold the chunk, whose score and
    similarity, 0 to 1, are then unknown. `error` says why no deeper search followed, if one failed.
    """

    mode: SearchMode
    depth: int
    count: int
    rank: int | None = None
    score: Score | None = None
    similarity: float | None = None
    category: str | None = None
    hint_filter: str | None = None
    error: TraceError | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the list ended by itself: the backend had no more to give."""
        return self.count < self.depth and self.error is None
