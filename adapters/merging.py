"""The lists that a search found as one, by the same rules on every backend."""

from collections.abc import Mapping, Sequence

from attrs import frozen

from evidence_lookup.domain.fusion import Fusion, RankedList
from evidence_lookup.domain.hit import FoundBy, SearchMode
from evidence_lookup.domain.score import Score

_LEAST_FUSED = 30


def parts(mode: SearchMode) -> tuple[SearchMode, ...]:
    """The modes whose lists a search in *mode* needs."""
    return (SearchMode.DENSE, SearchMode.KEYWORD) if mode is SearchMode.HYBRID else (mode,)


def list_length(mode: SearchMode, top_k: int) -> int:
    """How long each list must be: what stands low in two lists may be best in both together."""
    return max(top_k, _LEAST_FUSED) if mode is SearchMode.HYBRID else top_k


@frozen
class Merged:
    """One key of the merged list, with the lists that held it."""

    key: str
    score: Score
    found_by: tuple[FoundBy, ...]


@frozen
class Merger:
    """Leaves a single list as it is, and fuses two by `fusion` with their weights, from 0."""

    fusion: Fusion
    dense_weight: float
    keyword_weight: float

    def merged(
        self, lists: Mapping[SearchMode, Sequence[tuple[str, Score]]], *, top_k: int
    ) -> tuple[Merged, ...]:
        """At most *top_k* keys of *lists*, which are best first; fused ties are ordered by key."""
        found: dict[str, list[FoundBy]] = {}
        for mode, entries in lists.items():
            for rank, (key, _) in enumerate(entries, start=1):
                found.setdefault(key, []).append(FoundBy(mode, rank))
        best = next(iter(lists.values())) if len(lists) == 1 else self._fused(lists)
        return tuple(Merged(key, score, tuple(found[key])) for key, score in best[: max(top_k, 0)])

    def _fused(
        self, lists: Mapping[SearchMode, Sequence[tuple[str, Score]]]
    ) -> list[tuple[str, Score]]:
        weights = {SearchMode.DENSE: self.dense_weight, SearchMode.KEYWORD: self.keyword_weight}
        ranked = [RankedList(tuple(entries), weights[mode]) for mode, entries in lists.items()]
        return sorted(self.fusion(ranked), key=lambda item: (-item[1].goodness, item[0]))
