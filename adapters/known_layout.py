"""What a collection is like, as it was asked last, and the searches that rely on it."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from evidence_lookup.domain.errors import (
    BackendFailedError,
    BackendUnavailableError,
    CallerError,
)
from evidence_lookup.ports.knowledge_search import KnowledgeSearchResponse

L = TypeVar("L")

_SECONDS_BETWEEN_CHECKS = 2.0
# No other process can make the collection anew, and to ask may take as long as a search.
_SECONDS_IF_ALONE = 30.0


class LayoutChangedError(BackendUnavailableError):
    """The collection was exchanged while it was searched."""


class KnownLayout(Generic[L]):
    """A layout that is kept, in one event loop, though others may make the collection anew.

    A collection of another dimension, metric or mapping under the same name mostly answers all
    the same, with wrong scores or nothing.
    """

    def __init__(self, read: Callable[[L | None], Awaitable[L]], *, is_shared: bool) -> None:
        """*read* asks the backend; layouts are compared by ``==``.

        For a check it is given the layout that is known, which it may give back if it is certain
        that the collection is still the same one. *is_shared* says that other processes can make
        the collection anew.
        """
        self._read = read
        self._is_shared = is_shared
        self._layout: L | None = None
        self._read_at = self._checked_at = -math.inf

    async def get(self, *, fresh: bool = False) -> L:
        """The layout, read or checked in this call or as long ago as a check may be.

        Raises:
            EvidenceLookupError: as *read*.
        """
        now = time.monotonic()
        if fresh:
            return await self._since(now)
        return await self._since(now - self._seconds(), known=self._layout)

    def forget(self) -> None:
        """Read it anew when it is asked for next."""
        self._layout = None

    async def search(
        self, attempt: Callable[[L], Awaitable[KnowledgeSearchResponse]]
    ) -> KnowledgeSearchResponse:
        """What *attempt* gives with the layout of this moment.

        It is run with the layout that is known, and once more if that proves to be another one by
        now: it is read again where the search fails or raises `LayoutChangedError`, and checked
        where it finds nothing in a shared collection, and from time to time beside a search.

        Raises:
            EvidenceLookupError: as *attempt* and *read*.
        """
        began = time.monotonic()
        layout = await self._since(-math.inf)
        was_known = self._read_at < began
        try:
            if was_known and began - self._checked_at > self._seconds():
                self._checked_at = began  # one search of many at once is enough
                check = self._since(began, known=layout)
                response, newest = await asyncio.gather(attempt(layout), check)
            else:
                response, newest = await attempt(layout), layout
            if not response.hits and self._is_shared:
                newest = await self._since(began, known=newest)
        except LayoutChangedError:
            newest = await self._since(time.monotonic())
        except (BackendFailedError, CallerError):
            newest = await self._since(began) if was_known else layout
            if newest == layout:
                raise
        else:
            if newest == layout:
                return response
        return await attempt(newest)

    def _seconds(self) -> float:
        return _SECONDS_BETWEEN_CHECKS if self._is_shared else _SECONDS_IF_ALONE

    async def _since(self, moment: float, *, known: L | None = None) -> L:
        """The layout as it was read at *moment* or later, or checked if it is *known*."""
        layout = self._layout
        if layout is None or self._read_at < moment:
            began = time.monotonic()
            layout = self._layout = await self._read(known)
            self._read_at = self._checked_at = began
        return layout
