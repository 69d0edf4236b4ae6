"""A client for each event loop, opened on first use."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeAlias, TypeVar

from evidence_lookup.adapters.elasticsearch.driver import Driver, load, open_driver
from evidence_lookup.adapters.elasticsearch.errors import not_opened, translated
from evidence_lookup.adapters.elasticsearch.layout import Layout, read_layout
from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings
from evidence_lookup.adapters.known_layout import KnownLayout
from evidence_lookup.adapters.per_loop import PerLoop
from evidence_lookup.adapters.shared_client import SharedClient
from evidence_lookup.adapters.to_the_end import ToTheEnd
from evidence_lookup.domain.errors import BackendError

T = TypeVar("T")
# Two adapters on one index write one after the other.
_write_locks: PerLoop[dict[tuple[str, str], asyncio.Lock]] = PerLoop(
    dict[tuple[str, str], asyncio.Lock]
)
_Kept: TypeAlias = tuple[Driver, AsyncGenerator[None, None]]


class _LoopState:
    """What belongs to one event loop."""

    def __init__(self, connection: "ElasticsearchConnection") -> None:
        settings = connection.settings
        self.writes = ToTheEnd()
        self.client = SharedClient(
            lambda: _opened(settings), _closed, seconds=settings.timeout_seconds
        )
        self.layout = KnownLayout(
            lambda _: connection.call(lambda driver: read_layout(driver, settings)),
            is_shared=True,
        )


class ElasticsearchConnection:
    """The way to one index; may be used from several event loops."""

    def __init__(self, settings: ElasticsearchSettings) -> None:
        self.settings = settings
        self._states = PerLoop(lambda: _LoopState(self))

    async def call(self, do: Callable[[Driver], Awaitable[T]]) -> T:
        """What *do* gives with an open client.

        Raises:
            BackendError: as `errors.translate` says.
            MissingExtraError, SettingsError: the client cannot be opened.
        """
        state = self._states()
        try:
            async with state.client.calling() as (driver, _):
                with translated(self.settings):
                    return await do(driver)
        except BackendError:
            state.layout.forget()
            raise
        except TimeoutError as error:
            raise not_opened(self.settings) from error

    @property
    def known_layout(self) -> KnownLayout[Layout]:
        """What the index is like, as this event loop knows it.

        Reading it raises SchemaMismatchError where it cannot be used as it stands, and what `call`
        raises.
        """
        return self._states().layout

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
            await state.client.leave()


async def _opened(settings: ElasticsearchSettings) -> _Kept:
    # Whoever gives up waiting leaves the thread to itself.
    await asyncio.to_thread(load)
    driver = open_driver(settings)
    keeper = _kept(driver)
    await anext(keeper)
    return driver, keeper


async def _closed(kept: _Kept) -> None:
    await kept[1].aclose()


async def _kept(driver: Driver) -> AsyncGenerator[None, None]:
    """Close *driver* when this is closed, by hand or by the event loop when it shuts down.

    Its sockets belong to the loop, and nothing can close them once that has ended.
    """
    try:
        yield
    finally:
        await driver.close()
