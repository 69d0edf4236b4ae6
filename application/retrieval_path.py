"""One way to the knowledge, by its name: what a sidecar and a comparison go down."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TypeAlias

import anyio
from attrs import evolve

from evidence_lookup.application.readiness import Readiness
from evidence_lookup.domain.candidate import candidates_from
from evidence_lookup.domain.comparison import ComparedPath
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.text import cut
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchPort,
    KnowledgeSearchRequest,
    SearchCapabilities,
)

OpenSearch: TypeAlias = Callable[[], AbstractAsyncContextManager[KnowledgeSearchPort]]


class RetrievalPath:
    """A search port that is opened and probed when it is first used.

    A path that cannot be opened, or does not fit the embedder, raises at each use and is tried
    again at the next. What its port raises is left as it is: callers run it under `guarded`.
    """

    def __init__(self, name: str, open_search: OpenSearch, embedder: Embedder) -> None:
        """*open_search* gives the port and closes it; for one that others close, `nullcontext`."""
        self.name = name
        self._open_search = open_search
        self._embedder = embedder
        self._lock = anyio.Lock()
        self._closing = AsyncExitStack()
        self._opened: tuple[KnowledgeSearchPort, Readiness] | None = None

    async def open(self) -> None:
        """Open the port if it is not open yet; nothing is asked of the backend."""
        await self._open()

    async def capabilities(self) -> SearchCapabilities:
        """What the backend can do, checked against the embedder.

        Raises:
            EvidenceLookupError: as for `Readiness.capabilities`.
        """
        _, readiness = await self._open()
        return await readiness.capabilities()

    async def search(self, request: KnowledgeSearchRequest) -> ComparedPath:
        """What this path finds for *request*, which `fitted` brought within its limits.

        Raises:
            EvidenceLookupError: as for `capabilities` and `KnowledgeSearchPort.search`.
        """
        search, readiness = await self._open()
        await readiness.capabilities()
        try:
            response = await search.search(request)
        except Exception:
            readiness.forget()
            raise
        return ComparedPath(
            path=response.path,
            mode=SearchMode(response.mode),
            candidates=candidates_from(response.hits[: request.top_k]),
            degraded=response.degraded,
        )

    async def aclose(self) -> None:
        """Close the port; the next use opens it again."""
        async with self._lock:
            self._opened = None
            await self._closing.aclose()

    async def _open(self) -> tuple[KnowledgeSearchPort, Readiness]:
        async with self._lock:
            if self._opened is None:
                search = await self._closing.enter_async_context(self._open_search())
                self._opened = search, Readiness(search, self._embedder)
            return self._opened


def fitted(
    request: KnowledgeSearchRequest, *capabilities: SearchCapabilities
) -> KnowledgeSearchRequest:
    """*request* within the limits of every backend that is to get it."""
    return evolve(
        request,
        query=cut(
            request.query,
            min([len(request.query), *(one.max_query_characters for one in capabilities)]),
        ),
        top_k=min([request.top_k, *(one.max_top_k for one in capabilities)]),
    )
