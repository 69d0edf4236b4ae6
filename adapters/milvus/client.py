"""A client for each event loop, opened on first use, reopened after a failure."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from evidence_lookup.adapters.milvus import embedded
from evidence_lookup.adapters.milvus.driver import Driver, open_driver, pymilvus
from evidence_lookup.adapters.milvus.errors import gone, is_gone, is_not_loaded, translated
from evidence_lookup.adapters.milvus.gate import Gate
from evidence_lookup.adapters.milvus.schema import Layout, read_layout
from evidence_lookup.adapters.milvus.settings import MilvusSettings
from evidence_lookup.domain.errors import BackendError

T = TypeVar("T")
_gates: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Path, Gate]] = WeakKeyDictionary()


class _LoopState:
    """What belongs to one event loop."""

    def __init__(self, path: Path | None) -> None:
        self.opening = asyncio.Lock()
        self.driver: Driver | None = None
        self.layout: Layout | None = None
        self.leased = False
        self.writes: set[asyncio.Task[Any]] = set()
        loop = asyncio.get_running_loop()
        if path is None:
            self.gate = Gate(closing=False)
        else:  # two adapters on one file must pass the same gate
            self.gate = _gates.setdefault(loop, {}).setdefault(path, Gate(closing=True))


class MilvusConnection:
    """The way to one collection; may be used from several event loops."""

    def __init__(self, settings: MilvusSettings) -> None:
        self.settings = settings
        self._states: dict[asyncio.AbstractEventLoop, _LoopState] = {}

    async def call(self, do: Callable[[Driver], Awaitable[T]]) -> T:
        """What *do* gives with an open client.

        Raises:
            BackendError: as `errors.translate` says; the next call opens a new client.
            MissingExtraError, SettingsError: the embedded database cannot be opened.
        """
        state = self._state()
        try:
            with translated(self.settings):
                driver = await self._open(state)
                try:
                    return await do(driver)
                except Exception as error:
                    if not is_not_loaded(error):
                        raise
                await driver.load_collection(
                    self.settings.collection, timeout=self.settings.timeout_seconds
                )
                return await do(driver)
        except BackendError:
            await self._discard(state)
            raise

    async def layout(self, *, fresh: bool = False) -> Layout:
        """What the collection is like, asked once until something fails.

        Raises:
            SchemaMismatchError: it cannot be used as it stands.
            BackendError: as for `call`.
        """
        state = self._state()
        if fresh or state.layout is None:
            state.layout = await self.call(lambda driver: read_layout(driver, self.settings))
        return state.layout

    def forget_layout(self) -> None:
        """Ask anew, after the collection was made or dropped."""
        self._state().layout = None

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[None, None]:
        """Inside, every call sees the same version of each document."""
        async with self._state().gate.reading():
            yield

    async def write(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run *work* alone and to its end, even if the caller is cancelled meanwhile."""
        state = self._state()

        async def alone() -> T:
            async with state.gate.writing():
                # A small write into a removed file is acknowledged, and lost.
                if state.driver is not None and is_gone(self.settings):
                    raise gone(self.settings)
                return await work()

        task = asyncio.create_task(alone())
        state.writes.add(task)
        task.add_done_callback(state.writes.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            # Nobody waits for its outcome any more.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            raise

    async def aclose(self) -> None:
        """Close this loop's client and those of loops that have ended; repeating is safe."""
        loop = asyncio.get_running_loop()
        for one in [one for one in self._states if one is loop or one.is_closed()]:
            state = self._states.pop(one)
            if one is loop:
                await asyncio.gather(*state.writes, return_exceptions=True)
                await self._close_driver(state)
            await self._give_back(state)

    def _state(self) -> _LoopState:
        loop = asyncio.get_running_loop()
        state = self._states.get(loop)
        if state is None:
            state = self._states[loop] = _LoopState(self.settings.path)
        return state

    async def _open(self, state: _LoopState) -> Driver:
        async with state.opening:
            if state.driver is None:
                path = self.settings.path
                uri = self.settings.uri
                if path is not None:
                    await self._give_back(state)
                    # Starting it waits half a second, and importing it compiles.
                    uri = await asyncio.to_thread(embedded.acquire, path)
                    state.leased = True
                await asyncio.to_thread(pymilvus)
                state.driver = await open_driver(self.settings, uri)
            return state.driver

    async def _discard(self, state: _LoopState) -> None:
        """Forget what may be stale; a client that cannot be reached any more is closed."""
        state.layout = None
        path = self.settings.path
        if path is not None and await asyncio.to_thread(embedded.is_running, path):
            return
        await self._close_driver(state)

    async def _close_driver(self, state: _LoopState) -> None:
        driver, state.driver = state.driver, None
        if driver is not None:
            await driver.close()

    async def _give_back(self, state: _LoopState) -> None:
        if state.leased and self.settings.path is not None:
            state.leased = False
            await asyncio.to_thread(embedded.release, self.settings.path)
