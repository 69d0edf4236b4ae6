"""The lists that a search found as one, by the same rules on every backend."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from attrs import frozen

from evidence_lookup.adapters.versions import Versioned, newest_versions
from evidence_lookup.domain.errors import UnsupportedModeError
from evidence_lookup.domain.fusion import Fusion, RankedList
from evidence_lookup.domain.hit import FoundBy, SearchMode
from evidence_lookup.domain.score import Score
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest

_LEAST_FUSED = 30


class Row(Versioned, Protocol):
    """A row that a search found."""

    @property
    def id(self) -> str:
        """Its key, the same in every list."""
        ...


R = TypeVar("R", bound=Row)


def mode_to_run(
    request: KnowledgeSearchRequest, *, has_keyword: bool = True
) -> tuple[SearchMode, tuple[str, ...]]:
    """The mode in which *request* can run, and why it is not the one that was asked for.

    Raises:
        UnsupportedModeError: none can, without the query's vector.
    """
    if request.vector is None and request.mode is not SearchMode.KEYWORD:
        raise UnsupportedModeError(f"a {request.mode} search needs the query's vector")
    if has_keyword or request.mode is SearchMode.DENSE:
        return request.mode, ()
    if request.vector is None:
        raise UnsupportedModeError(
            "nothing can be searched by words here, and a dense search needs the query's vector"
        )
    return SearchMode.DENSE, (f"{request.mode}_unavailable",)


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

    async def merged_rows(
        self,
        mode: SearchMode,
        fetch: Callable[[SearchMode, int], Awaitable[Sequence[R]]],
        score: Callable[[R, SearchMode], Score],
        *,
        top_k: int,
    ) -> list[tuple[R, Merged]]:
        """At most *top_k* rows of the lists that a search in *mode* needs, one version of each.

        *fetch* gives the list of one mode, dense or keyword, best first and of the length asked;
        *score* is a row's in it. A row of both lists is the dense one.
        """
        wanted = list_length(mode, top_k)
        lists = await asyncio.gather(*(fetch(part, wanted) for part in parts(mode)))
        versions = newest_versions(row for rows in lists for row in rows)
        rows: dict[str, R] = {}
        entries: dict[SearchMode, list[tuple[str, Score]]] = {}
        for part, found in zip(parts(mode), lists, strict=True):
            kept = [
                row for row in found if row.version is None or row.version == versions[row.doc_id]
            ]
            for row in kept:
                rows.setdefault(row.id, row)
            entries[part] = [(row.id, score(row, part)) for row in kept]
        return [(rows[one.key], one) for one in self.merged(entries, top_k=top_k)]

    def _fused(
        self, lists: Mapping[SearchMode, Sequence[tuple[str, Score]]]
    ) -> list[tuple[str, Score]]:
        weights = {SearchMode.DENSE: self.dense_weight, SearchMode.KEYWORD: self.keyword_weight}
        ranked = [RankedList(tuple(entries), weights[mode]) for mode, entries in lists.items()]
        return sorted(self.fusion(ranked), key=lambda item: (-item[1].goodness, item[0]))
