"""A connection as we use it: it answers in time, or is thrown away."""

import select
from typing import Any, TypeVar

import anyio
from psycopg import AsyncConnection, waiting
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from evidence_lookup.adapters.postgres.conninfo import (
    connection_parameters,
    milliseconds,
    place,
)
from evidence_lookup.adapters.postgres.settings import PostgresSettings
from evidence_lookup.domain.errors import BackendTimeoutError

T = TypeVar("T")
# One plan for whatever values goes through the newest rows instead of the index of evidence keys.
_SESSION = """
    SELECT set_config('TimeZone', 'UTC', false),
           set_config('statement_timeout', %(limit)s, false),
           set_config('idle_in_transaction_session_timeout', %(limit)s, false),
           set_config('plan_cache_mode', 'force_custom_plan', false)
"""


class Connection(AsyncConnection[TupleRow]):
    """Closes itself where a wait for the server is given up.

    The driver would ask the server to stop, and wait until it has: a frozen one never does.
    Statements end by themselves at the server's own limit, which is the same time.
    """

    async def wait(
        self,
        gen: PQGen[T],
        interval: float = 0.1,
        timeout: float | None = None,  # noqa: ASYNC109, the driver's signature
    ) -> T:
        """What *gen*, an operation on this connection, gives."""
        limit = {} if timeout is None else {"timeout": timeout}
        try:
            return await waiting.wait_async(gen, self.pgconn.socket, interval=interval, **limit)
        except Exception:
            raise
        except BaseException:
            self.discard()
            raise

    @property
    def is_idle(self) -> bool:
        """Open, in no transaction, and nothing has come from the server, such as its farewell."""
        if self.pgconn.transaction_status != TransactionStatus.IDLE:
            return False
        poll = select.poll()
        poll.register(self.pgconn.socket, select.POLLIN)
        return not poll.poll(0)

    def discard(self) -> None:
        """Close it without a word to the server; may be repeated."""
        self.pgconn.finish()

    def __del__(self, *_: object) -> None:
        """An event loop may end with idle connections, which is no fault; libpq closes them."""


async def connect(
    settings: PostgresSettings, *, statement_seconds: float | None = None
) -> Connection:
    """A new connection, in autocommit mode, in UTC, whose statements end in time.

    *statement_seconds* is that time, by default the settings' own.

    Raises:
        psycopg.Error: nobody answers, or the server refuses.
        BackendTimeoutError: no answer in time.
        SettingsError: the url is empty, or is none.
    """
    parameters: dict[str, Any] = connection_parameters(settings)
    seconds = settings.timeout_seconds if statement_seconds is None else statement_seconds
    with anyio.move_on_after(settings.connect_timeout_seconds):
        connection = await Connection.connect(autocommit=True, **parameters)
        try:
            await connection.execute(_SESSION, {"limit": f"{milliseconds(seconds)}ms"})
        except BaseException:
            connection.discard()
            raise
        return connection
    raise BackendTimeoutError(
        f"PostgreSQL at {place(settings)} (postgres.url) gave no answer within "
        f"{settings.connect_timeout_seconds:g} s (postgres.connect-timeout-seconds)"
    )
