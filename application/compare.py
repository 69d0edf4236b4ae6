"""Ask two retrieval paths the same, and put what they find side by side (R52)."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TypeAlias, TypeVar

import anyio
from attrs import frozen

from evidence_lookup.application.compare_report import (
    CompareProgress,
    CompareReport,
    QueryComparison,
    totals,
)
from evidence_lookup.application.guard import guarded
from evidence_lookup.application.lookup_rules import LookupRules
from evidence_lookup.application.retrieval_path import RetrievalPath, fitted
from evidence_lookup.domain.comparison import compare
from evidence_lookup.domain.errors import (
    CallerError,
    EvidenceLookupError,
    SettingsError,
    trace_error,
)
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.text import clean, is_blank
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest

T = TypeVar("T")
OnProgress: TypeAlias = Callable[[CompareProgress], None]

_AT_ONCE = 8


@frozen
class Compare:
    """The use case. `make_path` gives a path by one of `path_names`."""

    make_path: Callable[[str], RetrievalPath]
    path_names: tuple[str, ...]
    embedder: Embedder
    rules: LookupRules

    async def compare(
        self,
        queries: Sequence[str],
        *,
        main: str,
        other: str,
        scope: Scope | None = None,
        mode: SearchMode | None = None,
        top_k: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> CompareReport:
        """Both paths on each of *queries*; at most 8 queries run at once.

        Each query is embedded once, and both paths get the same request: without hints, within
        the limits of both, in *scope*. Mode and *top_k* are those of lookups if not given, and so
        is the deadline of each query. A path that fails is told query by query.

        Raises:
            SettingsError: there is no path of that name, or both are one.
            ScopeError: the settings require a scope value that *scope* lacks.
            CallerError: a query is empty, or *top_k* below 1.
            EvidenceLookupError: neither path can be opened; the main one's error.
        """
        scope, mode = scope or Scope(), mode or self.rules.mode
        top_k = self.rules.retrieve_k if top_k is None else top_k
        self._check(queries, (main, other), scope, top_k)
        blank = KnowledgeSearchRequest("", None, top_k, mode, scope)
        compared: dict[int, QueryComparison] = {}
        limiter = anyio.CapacityLimiter(_AT_ONCE)

        async def run(position: int, query: str, paths: Sequence[RetrievalPath]) -> None:
            async with limiter:
                compared[position] = await self._one(clean(query), blank, paths)
            if on_progress is not None:
                on_progress(CompareProgress(len(compared), len(queries)))

        async with AsyncExitStack() as closing:
            paths = [self.make_path(main), self.make_path(other)]
            for path in paths:
                closing.push_async_callback(path.aclose)
            await self._open(paths)
            async with anyio.create_task_group() as tasks:
                for position, query in enumerate(queries):
                    tasks.start_soon(run, position, query, paths)
        in_order = tuple(compared[position] for position in range(len(queries)))
        return CompareReport(main, other, mode, top_k, in_order, totals(in_order))

    def _check(
        self, queries: Sequence[str], names: Sequence[str], scope: Scope, top_k: int
    ) -> None:
        for name in names:
            if name not in self.path_names:
                known = ", ".join(self.path_names)
                raise SettingsError([f"there is no path {name!r}; the paths are {known}"])
        if len(set(names)) == 1:
            raise SettingsError([f"{names[0]} would be compared with itself: name another path"])
        scope.require(self.rules.required_scope)
        if top_k < 1:
            raise CallerError(f"top_k must be at least 1, not {top_k}")
        for position, query in enumerate(queries, start=1):
            if is_blank(query):
                raise CallerError(f"query {position} of {len(queries)} is empty")

    async def _open(self, paths: Sequence[RetrievalPath]) -> None:
        deadline = anyio.current_time() + self.rules.deadline_seconds
        opened = await _each([path.open for path in paths], deadline)
        errors = [one for one in opened if isinstance(one, EvidenceLookupError)]
        if len(errors) == len(paths):
            raise errors[0]

    async def _one(
        self, query: str, blank: KnowledgeSearchRequest, paths: Sequence[RetrievalPath]
    ) -> QueryComparison:
        deadline = anyio.current_time() + self.rules.deadline_seconds
        main, other = await _each([path.capabilities for path in paths], deadline)
        if isinstance(main, EvidenceLookupError) or isinstance(other, EvidenceLookupError):
            return _failed(query, main, other)
        try:
            with guarded(deadline=deadline):
                vector = await self.embedder.embed_query(self.embedder.fit(query))
        except EvidenceLookupError as error:
            return _failed(query, error, error)
        whole = KnowledgeSearchRequest(query, vector, blank.top_k, blank.mode, blank.scope)
        request = fitted(whole, main, other)
        searches = [partial(path.search, request) for path in paths]
        in_main, in_other = await _each(searches, deadline)
        if isinstance(in_main, EvidenceLookupError) or isinstance(in_other, EvidenceLookupError):
            return _failed(query, in_main, in_other)
        try:
            with guarded(deadline=deadline):
                return QueryComparison(query, compare(in_main, in_other, k=request.top_k))
        except EvidenceLookupError as error:
            return _failed(query, error, error)


async def _each(
    calls: Sequence[Callable[[], Awaitable[T]]], deadline: float
) -> list[T | EvidenceLookupError]:
    """What each of *calls*, run side by side until *deadline*, gave or raised."""
    results: dict[int, T | EvidenceLookupError] = {}

    async def run(position: int, call: Callable[[], Awaitable[T]]) -> None:
        try:
            with guarded(deadline=deadline):
                results[position] = await call()
        except EvidenceLookupError as error:
            results[position] = error

    async with anyio.create_task_group() as tasks:
        for position, call in enumerate(calls):
            tasks.start_soon(run, position, call)
    return [results[position] for position in range(len(calls))]


def _failed(query: str, main: object, other: object) -> QueryComparison:
    main_error, other_error = (
        trace_error(one) if isinstance(one, EvidenceLookupError) else None for one in (main, other)
    )
    return QueryComparison(query, None, main_error, other_error)
