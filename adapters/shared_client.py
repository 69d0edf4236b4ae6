"""A client that all calls of one event loop share."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

C = TypeVar("C")


class SharedClient(Generic[C]):
    """Opened by the first call, closed when it was left and the last call on it is done.

    Closing a client cancels the calls that run on it.
    """

    def __init__(
        self,
        open_client: Callable[[], Awaitable[C]],
        close: Callable[[C], Coroutine[Any, Any, None]],
        *,
        seconds: float,
    ) -> None:
        """Opening it, or waiting until another call has opened it, takes *seconds* at most."""
        self._open_client = open_client
        self._close = close
        self._seconds = seconds
        self._opening = asyncio.Lock()
        self._client: C | None = None
        self._calls = 0
        self._is_left = False

    @property
    def is_open(self) -> bool:
        """Whether a call has opened it."""
        return self._client is not None

    @asynccontextmanager
    async def calling(self) -> AsyncGenerator[C, None]:
        """The open client; inside, it stays open.

        Raises:
            TimeoutError: it is not open in time.
            Exception: whatever opening it raises; the next call tries again.
        """
        self._calls += 1
        try:
            yield await self._opened()
        finally:
            self._calls -= 1
            await self._close_if_idle()

    async def leave(self) -> None:
        """Close it as soon as nobody calls."""
        self._is_left = True
        await self._close_if_idle()

    async def _opened(self) -> C:
        if self._client is None:
            async with asyncio.timeout(self._seconds), self._opening:
                if self._client is None:
                    self._client = await self._open_client()
        return self._client

    async def _close_if_idle(self) -> None:
        if self._is_left and not self._calls and self._client is not None:
            client, self._client = self._client, None
            # A cancelled caller must still close it.
            await asyncio.shield(asyncio.ensure_future(self._close(client)))
