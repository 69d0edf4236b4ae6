"""A PostgreSQL database for asynchronous callers."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar

import anyio
from attrs import Factory, define

from evidence_lookup.adapters.per_loop import PerLoop
from evidence_lookup.adapters.postgres.driver import load
from evidence_lookup.adapters.postgres.settings import PostgresSettings
from evidence_lookup.adapters.postgres.statements import statement
from evidence_lookup.domain.errors import BackendTimeoutError

if TYPE_CHECKING:
    from evidence_lookup.adapters.postgres.connection import Connection
    from evidence_lookup.adapters.postgres.pool import Pool

T = TypeVar("T")


@define
class _SharedPool:
    pool: "Pool"
    users: set["PostgresDatabase"] = Factory(set["PostgresDatabase"])


_pools: PerLoop[dict[PostgresSettings, _SharedPool]] = PerLoop(dict[PostgresSettings, _SharedPool])


class PostgresDatabase:
    """Operations on connections that all with the same settings share, in each event loop.

    Safe with several tasks, event loops and processes. A caller that is cancelled goes on at
    once, its connection is closed; a statement that the server has begun is done or undone as a
    whole.
    """

    def __init__(self, settings: PostgresSettings) -> None:
        """Nothing is opened yet."""
        self.settings = settings

    def statement(self, template: LiteralString) -> bytes:
        """*template* with the names of our tables; the driver is loaded."""
        return statement(self.settings.schema, template)

    async def run(self, work: "Callable[[Connection], Awaitable[T]]") -> T:
        """What *work* gives with a connection in autocommit mode; all of it ends in time.

        Raises:
            BackendError: as `faults.translate` says; CollectionMissingError where `migrate` has
                not been run, BackendTimeoutError after `timeout_seconds`.
            SettingsError: the url is empty, or is none.
            MissingExtraError: the driver is not installed.
        """
        seconds = self.settings.timeout_seconds
        waits_for = "free connection"
        try:
            with anyio.fail_after(seconds):
                pool = await self._pool()
                from evidence_lookup.adapters.postgres.faults import translated

                with translated(self.settings):
                    async with pool.connection() as connection:
                        waits_for = "answer"
                        return await work(connection)
        except TimeoutError as error:
            raise BackendTimeoutError(
                f"PostgreSQL (postgres.url) gave no {waits_for} within {seconds:g} s "
                "(postgres.timeout-seconds, postgres.pool-size)"
            ) from error

    async def rows(
        self, template: LiteralString, parameters: Sequence[object] = ()
    ) -> Sequence[Sequence[Any]]:
        """Every row of the statement *template*, with our tables in it.

        Raises:
            BackendError, SettingsError, MissingExtraError: as `run`.
        """

        async def work(connection: "Connection") -> Sequence[Sequence[Any]]:
            cursor = await connection.execute(self.statement(template), parameters)
            return await cursor.fetchall()

        return await self.run(work)

    async def aclose(self) -> None:
        """Leave the running loop's connections, closed if no other uses them; may be repeated."""
        shared = _pools().get(self.settings)
        if shared is None:
            return
        shared.users.discard(self)
        if not shared.users:
            del _pools()[self.settings]
            shared.pool.close()

    async def _pool(self) -> "Pool":
        shared = _pools().get(self.settings)
        if shared is None:
            # Whoever gives up waiting leaves the thread to itself.
            await asyncio.to_thread(load)
            from evidence_lookup.adapters.postgres.pool import Pool
            from evidence_lookup.adapters.postgres.versions import connect_checked

            opening = partial(connect_checked, self.settings)
            shared = _pools().setdefault(
                self.settings, _SharedPool(Pool(opening, size=self.settings.pool_size))
            )
        shared.users.add(self)
        return shared.pool
