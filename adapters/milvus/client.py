"""A client for each event loop, opened on first use, reopened after a failure."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar
from weakref import WeakKeyDictionary

from evidence_lookup.adapters.cancellable import cancellable
from evidence_lookup.adapters.milvus import embedded
from evidence_lookup.adapters.milvus.driver import Driver, open_driver, pymilvus
from evidence_lookup.adapters.milvus.errors import gone, is_gone, is_not_loaded, translated
from evidence_lookup.adapters.milvus.gate import Gate
from evidence_lookup.adapters.milvus.schema import Layout, read_layout
from evidence_lookup.adapters.milvus.settings import MilvusSettings
from evidence_lookup.adapters.to_the_end import ToTheEnd
from evidence_lookup.domain.errors import BackendError

T = TypeVar("T")
OpenClient = Callable[[MilvusSettings, str], Awaitable[Driver]]
_gates: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Path, Gate]] = WeakKeyDictionary()


class _Client:
    """An open driver, closed when its last call is done: closing it cancels those that run."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self._calls = 0
        self._is_left = False

    @asynccontextmanager
    async def calling(self) -> AsyncGenerator[Driver, None]:
        """Inside, it stays open."""
        self._calls += 1
        try:
            yield self.driver
        finally:
            self._calls -= 1
            await self._close_if_idle()

    async def leave(self) -> None:
        """Close it as soon as nobody calls; no new call may begin."""
        self._is_left = True
        await self._close_if_idle()

    async def _close_if_idle(self) -> None:
        if self._is_left and not self._calls:
            # A cancelled caller must still close it.
            await asyncio.shield(asyncio.ensure_future(self.driver.close()))


class _LoopState:
    """What belongs to one event loop."""

    def __init__(self, path: Path | None) -> None:
        self.opening = asyncio.Lock()
        self.client: _Client | None = None
        self.layout: Layout | None = None
        self.leased = False
        self.writes = ToTheEnd()
        loop = asyncio.get_running_loop()
        if path is None:
            self.gate = Gate(closing=False)
        else:  # two adapters on one file must pass the same gate
            self.gate = _gates.setdefault(loop, {}).setdefault(path, Gate(closing=True))


class MilvusConnection:
    """The way to one collection; may be used from several event loops."""

    def __init__(self, settings: MilvusSettings, open_client: OpenClient | None = None) -> None:
        """*open_client* opens a client at an address; the driver's own one if it is not given."""
        self.settings = settings
        self._open_client = open_client
        self._states: dict[asyncio.AbstractEventLoop, _LoopState] = {}

    async def call(self, do: Callable[[Driver], Awaitable[T]]) -> T:
        """What *do* gives with an open client.

        Raises:
            BackendError: as `errors.translate` says; the next call opens a new client.
            MissingExtraError, SettingsError: the embedded database cannot be opened.
        """
        state = self._state()
        client: _Client | None = None
        try:
            with translated(self.settings):
                client = await self._open(state)
                async with client.calling() as driver:
                    try:
                        return await cancellable(do(driver))
                    except Exception as error:
                        if not is_not_loaded(error):
                            raise
                    await driver.load_collection(
                        self.settings.collection, timeout=self.settings.timeout_seconds
                    )
                    return await cancellable(do(driver))
        except BackendError:
            await self._discard(state, client)
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
                if state.client is not None and is_gone(self.settings):
                    raise gone(self.settings)
                return await work()

        return await state.writes.run(alone())

    async def aclose(self) -> None:
        """Close this loop's client and those of loops that have ended; repeating is safe."""
        loop = asyncio.get_running_loop()
        for one in [one for one in self._states if one is loop or one.is_closed()]:
            state = self._states.pop(one)
            if one is loop:
                await state.writes.join()
                await self._leave_client(state)
            await self._give_back(state)

    def _state(self) -> _LoopState:
        loop = asyncio.get_running_loop()
        state = self._states.get(loop)
        if state is None:
            state = self._states[loop] = _LoopState(self.settings.path)
        return state

    async def _open(self, state: _LoopState) -> _Client:
        # Whoever waits for others to open it waits no longer than for a call: on a server that does
        # not answer they would all try, one after the other.
        async with asyncio.timeout(self.settings.timeout_seconds):
            await state.opening.acquire()
        try:
            if state.client is None:
                path = self.settings.path
                uri = self.settings.uri
                if path is not None:
                    await self._give_back(state)
                    # Starting it waits half a second, and importing it compiles.
                    uri = await asyncio.to_thread(embedded.acquire, path)
                    state.leased = True
                await asyncio.to_thread(pymilvus)
                open_client = self._open_client or open_driver
                state.client = _Client(await cancellable(open_client(self.settings, uri)))
            return state.client
        finally:
            state.opening.release()

    async def _discard(self, state: _LoopState, failed: _Client | None) -> None:
        """Forget what may be stale: the layout, and the client unless its database still runs."""
        state.layout = None
        path = self.settings.path
        if path is not None and await asyncio.to_thread(embedded.is_running, path):
            return
        if state.client is failed:  # or else another caller was first
            await self._leave_client(state)

    async def _leave_client(self, state: _LoopState) -> None:
        client, state.client = state.client, None
        if client is not None:
            await client.leave()

    async def _give_back(self, state: _LoopState) -> None:
        if state.leased and self.settings.path is not None:
            state.leased = False
            await asyncio.to_thread(embedded.release, self.settings.path)
