"""A client for each event loop, opened on first use."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio.to_thread

from evidence_lookup.adapters.elasticsearch.driver import Driver, load, open_driver
from evidence_lookup.adapters.elasticsearch.errors import translated
from evidence_lookup.adapters.elasticsearch.layout import Layout, read_layout
from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings
from evidence_lookup.adapters.per_loop import PerLoop
from evidence_lookup.adapters.to_the_end import ToTheEnd
from evidence_lookup.domain.errors import BackendError

T = TypeVar("T")
# Two adapters on one index write one after the other.
_write_locks: PerLoop[dict[tuple[str, str], asyncio.Lock]] = PerLoop(
    dict[tuple[str, str], asyncio.Lock]
)


class _LoopState:
    """What belongs to one event loop; its client is closed when the last call on it is done."""

    def __init__(self, settings: ElasticsearchSettings) -> None:
        self.layout: Layout | None = None
        self.writes = ToTheEnd()
        self._settings = settings
        self._opening = asyncio.Lock()
        self._opened: tuple[Driver, AsyncGenerator[None, None]] | None = None
        self._calls = 0
        self._is_left = False

    @asynccontextmanager
    async def calling(self) -> AsyncGenerator[Driver, None]:
        """The open client; inside, it stays open."""
        self._calls += 1
        try:
            yield await self._open()
        finally:
            self._calls -= 1
            await self._close_if_idle()

    async def leave(self) -> None:
        """Close it as soon as nobody calls."""
        self._is_left = True
        await self._close_if_idle()

    async def _open(self) -> Driver:
        async with self._opening:
            if self._opened is None:
                await anyio.to_thread.run_sync(load)
                driver = open_driver(self._settings)
                keeper = _kept(driver)
                await anext(keeper)
                self._opened = (driver, keeper)
            return self._opened[0]

    async def _close_if_idle(self) -> None:
        if self._is_left and not self._calls and self._opened is not None:
            (_, keeper), self._opened = self._opened, None
            # A cancelled caller must still close it.
            await asyncio.shield(asyncio.ensure_future(_closed(keeper)))


class ElasticsearchConnection:
    """The way to one index; may be used from several event loops."""

    def __init__(self, settings: ElasticsearchSettings) -> None:
        self.settings = settings
        self._states = PerLoop(lambda: _LoopState(settings))

    async def call(self, do: Callable[[Driver], Awaitable[T]]) -> T:
        """What *do* gives with an open client.

        Raises:
            BackendError: as `errors.translate` says.
            MissingExtraError, SettingsError: the client cannot be opened.
        """
        state = self._states()
        try:
            async with state.calling() as driver:
                with translated(self.settings):
                    return await do(driver)
        except BackendError:
            state.layout = None
            raise

    async def layout(self, *, fresh: bool = False) -> Layout:
        """What the index is like, asked once until something fails.

        Raises:
            SchemaMismatchError: it cannot be used as it stands.
            BackendError: as for `call`.
        """
        state = self._states()
        layout = None if fresh else state.layout
        if layout is None:
            layout = state.layout = await self.call(lambda one: read_layout(one, self.settings))
        return layout

    def forget_layout(self) -> None:
        """Ask anew, after the index was made or dropped."""
        self._states().layout = None

    async def write(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run *work* with no other write beside it, and to its end, whoever gives up waiting."""
        lock = _write_locks().setdefault((self.settings.url, self.settings.index), asyncio.Lock())

        async def alone() -> T:
            async with lock:
                return await work()

        return await self._states().writes.run(alone())

    async def aclose(self) -> None:
        """Close the running loop's client, its writes done; repeating is safe."""
        await self._states().writes.join()
        state = self._states.take()
        if state is not None:
            await state.leave()


async def _closed(keeper: AsyncGenerator[None, None]) -> None:
    await keeper.aclose()


async def _kept(driver: Driver) -> AsyncGenerator[None, None]:
    """Close *driver* when this is closed, by hand or by the event loop when it shuts down.

    Its sockets belong to the loop, and nothing can close them once that has ended.
    """
    try:
        yield
    finally:
        await driver.close()
