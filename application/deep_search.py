"""Where a chunk stands in a search that asks for more than a lookup does."""

from collections.abc import Iterator

from attrs import evolve, frozen

from evidence_lookup.application.guard import guarded
from evidence_lookup.domain.candidate import candidates_from
from evidence_lookup.domain.errors import EvidenceLookupError, trace_error
from evidence_lookup.domain.explanation import Standing
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.ports.knowledge_search import KnowledgeSearchPort, KnowledgeSearchRequest

_GROWTH = 4


@frozen
class DeepSearch:
    """Asks for four times as many hits until they hold one key, or there are no more.

    At most `max_top_k` hits are asked for, and all ends at `deadline`, a moment of
    `anyio.current_time`.
    """

    search: KnowledgeSearchPort
    evidence_key: str
    max_top_k: int
    deadline: float

    async def standing(self, request: KnowledgeSearchRequest) -> Standing:
        """The key's place in the list of *request*, whatever the depth; its scope is kept.

        A search that fails ends it: the standing is then that of the search before, with the error.
        """
        standing = Standing(request.mode, depth=request.top_k, count=0)
        for depth in self._depths(request.top_k):
            try:
                standing = await self._at(evolve(request, top_k=depth))
            except EvidenceLookupError as error:
                return evolve(standing, error=trace_error(error))
            if standing.rank is not None or standing.is_whole:
                break
        return standing

    def _depths(self, top_k: int) -> Iterator[int]:
        depth = min(top_k * _GROWTH, self.max_top_k)
        yield depth
        while depth < self.max_top_k:
            depth = min(depth * _GROWTH, self.max_top_k)
            yield depth

    async def _at(self, request: KnowledgeSearchRequest) -> Standing:
        with guarded(deadline=self.deadline):
            response = await self.search.search(request)
            mode = SearchMode(response.mode)
            candidates = candidates_from(response.hits)
        hint_filter = request.hint_filter.category if request.hint_filter else None
        standing = Standing(mode, request.top_k, len(candidates), hint_filter=hint_filter)
        named = (one for one in candidates if one.evidence_key == self.evidence_key)
        if (candidate := next(named, None)) is None:
            return standing
        return evolve(
            standing,
            rank=candidate.original_rank,
            score=candidate.score,
            similarity=candidate.similarity,
            category=candidate.text("category"),
        )
