"""A client for each event loop, opened on first use, reopened after a failure."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias, TypeVar

from evidence_lookup.adapters.cancellable import cancellable
from evidence_lookup.adapters.known_layout import KnownLayout
from evidence_lookup.adapters.milvus import embedded
from evidence_lookup.adapters.milvus.driver import Driver, open_driver, pymilvus
from evidence_lookup.adapters.milvus.errors import gone, is_gone, is_not_loaded, translated
from evidence_lookup.adapters.milvus.gate import Gate
from evidence_lookup.adapters.milvus.schema import Layout, read_layout
from evidence_lookup.adapters.milvus.settings import MilvusSettings
from evidence_lookup.adapters.per_loop import PerLoop
from evidence_lookup.adapters.shared_client import SharedClient
from evidence_lookup.adapters.to_the_end import ToTheEnd
from evidence_lookup.domain.errors import BackendError

T = TypeVar("T")
OpenClient = Callable[[MilvusSettings, str], Awaitable[Driver]]
_Opened: TypeAlias = tuple[Driver, embedded.Lease | None]
_gates = PerLoop(dict[Path | tuple[str, str, str], Gate])


class _LoopState:
    """What belongs to one event loop."""

    def __init__(self, connection: "MilvusConnection") -> None:
        self._connection = connection
        self.leases: set[embedded.Lease] = set()
        self.client = self.new_client()
        self.writes = ToTheEnd()
        settings = connection.settings
        path = settings.path
        self.layout = KnownLayout(
            lambda known: connection.call(lambda driver: read_layout(driver, settings, known)),
            is_shared=path is None,
        )
        # Two adapters on one collection pass the same gate, and in an embedded database all do.
        key = path or (settings.uri, settings.database, settings.collection)
        self.gate = _gates().setdefault(key, Gate(closing=path is not None))

    def new_client(self) -> SharedClient[_Opened]:
        """One that is not open yet."""
        connection = self._connection
        return SharedClient(
            lambda: connection.open(self.leases),
            self._close,
            seconds=connection.settings.timeout_seconds,
        )

    async def _close(self, opened: _Opened) -> None:
        driver, lease = opened
        try:
            await driver.close()
        finally:
            if lease is not None:
                self.leases.discard(lease)
                await asyncio.to_thread(lease.give_back)

    async def give_back(self) -> None:
        """Let the embedded database go."""
        while self.leases:
            await asyncio.to_thread(self.leases.pop().give_back)


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
        client = state.client
        try:
            with translated(self.settings):
                async with client.calling() as (driver, _):
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

    @property
    def known_layout(self) -> KnownLayout[Layout]:
        """What the collection is like, as this event loop knows it.

        Reading it raises SchemaMismatchError where it cannot be used as it stands, and what `call`
        raises.
        """
        return self._state().layout

    async def layout(self, *, fresh: bool = False) -> Layout:
        """As `KnownLayout.get` of `known_layout`."""
        return await self.known_layout.get(fresh=fresh)

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
                if state.client.is_open and is_gone(self.settings):
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
                await state.client.leave()
            await state.give_back()

    def _state(self) -> _LoopState:
        loop = asyncio.get_running_loop()
        state = self._states.get(loop)
        if state is None:
            state = self._states[loop] = _LoopState(self)
        return state

    async def open(self, leases: set[embedded.Lease]) -> _Opened:
        """An open client; on an embedded database with a lease of its own, noted in *leases*."""
        lease = None
        uri = self.settings.uri
        if self.settings.path is not None:
            # Starting it waits half a second, and importing it compiles.
            lease = await _leased(self.settings.path)
            leases.add(lease)
            uri = lease.address
        try:
            await asyncio.to_thread(pymilvus)
            open_client = self._open_client or open_driver
            return await cancellable(open_client(self.settings, uri)), lease
        except BaseException:
            if lease is not None:
                leases.discard(lease)
                # In a thread that nobody has to wait for.
                asyncio.get_running_loop().run_in_executor(None, lease.give_back)
            raise

    async def _discard(self, state: _LoopState, failed: SharedClient[_Opened]) -> None:
        """Forget what may be stale: the layout, and the client unless its database still runs."""
        state.layout.forget()
        path = self.settings.path
        if path is not None and await asyncio.to_thread(embedded.is_running, path):
            return
        if state.client is failed and failed.is_open:  # or else another caller was first
            state.client = state.new_client()
            await failed.leave()


async def _leased(path: Path) -> embedded.Lease:
    """A lease on *path*; one that comes when nobody waits for it any more is given back."""
    leasing = asyncio.ensure_future(asyncio.to_thread(embedded.Lease, path))
    try:
        await asyncio.wait([leasing])
    except asyncio.CancelledError:
        leasing.add_done_callback(_give_back_late)
        raise
    return leasing.result()


def _give_back_late(leasing: "asyncio.Future[embedded.Lease]") -> None:
    if not leasing.cancelled() and leasing.exception() is None:
        leasing.get_loop().run_in_executor(None, leasing.result().give_back)
