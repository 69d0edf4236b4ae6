"""Servers that refuse, freeze, die and come back; and callers that give up."""

import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager

import anyio
import pytest
from attrs import evolve
from psycopg import sql
from psycopg.conninfo import make_conninfo
from tests.postgres_schema import Connection, fresh_schema, superuser
from tests.servers import Server

from evidence_lookup.adapters.postgres import (
    PostgresCatalogue,
    PostgresSettings,
    PostgresTraces,
    migrate,
)
from evidence_lookup.domain.errors import (
    BackendError,
    BackendFailedError,
    BackendTimeoutError,
    BackendUnavailableError,
    SettingsError,
)
from evidence_lookup.testing.samples import entry, invocation

_SECRET = "kept-from-messages"


@pytest.fixture(scope="module")
def tables(postgres_server: Server) -> Iterator[PostgresSettings]:
    """Tables for all tests of this module, made once."""
    with fresh_schema(postgres_server, timeout_seconds=30) as postgres:
        anyio.run(migrate, postgres)
        yield postgres


@pytest.fixture
async def traces(tables: PostgresSettings) -> AsyncIterator[PostgresTraces]:
    """Records in a table."""
    traces = PostgresTraces(tables)
    yield traces
    await traces.aclose()


@contextmanager
def locked(server: Server, tables: PostgresSettings) -> Generator[Connection, None, None]:
    """Inside, every statement on the records waits."""
    with superuser(server) as connection, connection.transaction():
        table = sql.Identifier(tables.schema, "tool_invocation")
        connection.execute(sql.SQL("LOCK TABLE {}").format(table))
        yield connection


async def test_a_refused_user_or_database_is_told_by_the_setting(
    tables: PostgresSettings, caplog: pytest.LogCaptureFixture
) -> None:
    """At once, by `postgres.url`, and without the password, in messages and in logs."""
    for wrong in (
        {"password": _SECRET},
        {"dbname": "nothing"},
        {"user": "nobody"},
        {"sslmode": "require"},
    ):
        postgres = evolve(tables, url=make_conninfo(tables.url, **wrong))
        before = time.monotonic()
        for call in (PostgresTraces(postgres).recent(limit=1), migrate(postgres)):
            with pytest.raises(BackendFailedError, match=r"postgres\.url") as caught:
                await call
            assert _SECRET not in str(caught.value)
        assert time.monotonic() - before < tables.timeout_seconds / 2
        assert _SECRET not in repr(postgres)
    assert not caplog.records


@pytest.mark.parametrize(
    "url",
    [
        "",
        " ",
        f"postgresql://user:100%{_SECRET}@host/database",
        f"postgresql://user:a/{_SECRET}@host/database",
        f"postgresql://user:1/{_SECRET}@host/database",
        f"postgresql://user:a@{_SECRET}@host/database",
        f"https://{_SECRET}",
        f"host=x password={_SECRET} port",
        "postgresql://host:port/database",
    ],
)
async def test_a_url_that_is_none_is_a_fault_of_the_settings(url: str) -> None:
    """The message names the setting, and shows nothing of the url, which may hold a password."""
    postgres = PostgresSettings(url)
    for call in (PostgresTraces(postgres).get("a"), migrate(postgres)):
        with pytest.raises(SettingsError, match=r"postgres\.url") as caught:
            await call
        assert _SECRET not in f"{caught.value} {caught.value.__cause__}"


async def test_nobody_at_the_address_is_unavailable_at_once(tables: PostgresSettings) -> None:
    """A closed port and an unknown host are told at once, not when the time is over."""
    for wrong in ({"port": 9}, {"host": "nowhere.invalid"}):
        postgres = evolve(tables, url=make_conninfo(tables.url, **wrong))
        before = time.monotonic()
        with pytest.raises(BackendUnavailableError, match=r"postgres\.url") as caught:
            await PostgresCatalogue(postgres).entries()
        assert caught.value.retryable
        assert time.monotonic() - before < tables.timeout_seconds / 2


async def test_a_full_server_is_unavailable_for_a_while(
    tables: PostgresSettings, postgres_server: Server
) -> None:
    """Who finds no free place among the server's connections may try again later."""
    user = sql.Identifier(f"{tables.schema}_few")
    postgres = evolve(
        tables, url=make_conninfo(tables.url, user=f"{tables.schema}_few", password="another one")
    )
    with superuser(postgres_server) as connection:
        made = "CREATE ROLE {} LOGIN CONNECTION LIMIT 0 PASSWORD 'another one'"
        connection.execute(sql.SQL(made).format(user))
        try:
            with pytest.raises(BackendUnavailableError, match="too many connections"):
                await PostgresTraces(postgres).recent(limit=1)
        finally:
            connection.execute(sql.SQL("DROP ROLE {}").format(user))


@pytest.mark.parametrize("seconds", [1e-6, 1e12])
async def test_any_time_can_be_set(tables: PostgresSettings, seconds: float) -> None:
    """The shortest is over at once, and is not taken for no limit; the longest is one."""
    traces = PostgresTraces(evolve(tables, timeout_seconds=seconds))
    if seconds < 1:
        await _fails(traces.get, "a")
    else:
        assert await traces.get("nothing") is None
    await traces.aclose()


async def test_a_standby_cannot_be_written(tables: PostgresSettings) -> None:
    """A server that only serves reads says so, and what to set; reading works."""
    only_read = make_conninfo(tables.url, options="-c default_transaction_read_only=on")
    traces = PostgresTraces(evolve(tables, url=only_read))
    assert await traces.get("nothing") is None
    with pytest.raises(BackendFailedError, match=r"postgres\.url.*target_session_attrs"):
        await traces.record([invocation()])
    await traces.aclose()


async def test_connections_that_the_server_ended_are_not_used_again(
    traces: PostgresTraces, tables: PostgresSettings, postgres_server: Server
) -> None:
    """The first call after all were ended gets an answer."""
    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(traces.get, f"{number}")
    with superuser(postgres_server) as connection:
        ((ended,),) = connection.execute(
            "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity "
            "WHERE application_name = 'evidence-lookup'"
        ).fetchall()
    assert 1 <= ended <= tables.pool_size
    await traces.record([invocation("after the end")])
    assert await traces.get("after the end") is not None


async def test_callers_share_connections_and_wait_in_time(
    tables: PostgresSettings, postgres_server: Server
) -> None:
    """Traces and catalogue have one pool; who has to wait for a connection is told in time."""
    url = make_conninfo(tables.url, application_name="few")
    few = evolve(tables, url=url, pool_size=1, timeout_seconds=2)
    traces, catalogue = PostgresTraces(few), PostgresCatalogue(few)
    await traces.recent(limit=1)
    await catalogue.put([entry("a")])
    count = 0
    with locked(postgres_server, tables) as connection:
        async with anyio.create_task_group() as tasks:
            for number in range(3):
                tasks.start_soon(_fails, traces.get, f"{number}")
            await anyio.sleep(0.5)
            # An adapter that leaves takes no connection from the other.
            await catalogue.aclose()
            ((count,),) = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'few'"
            ).fetchall()
        assert count == 1
    assert await catalogue.get(["a"]) == {"a": entry("a")}
    assert await traces.get("a") is None
    await traces.aclose()
    await catalogue.aclose()


async def test_a_cancelled_caller_leaves_at_once_and_nothing_open(
    traces: PostgresTraces, postgres_server: Server, tables: PostgresSettings
) -> None:
    """Neither it nor the others wait for the statement, and no transaction stays open."""
    catalogue = PostgresCatalogue(tables)
    with locked(postgres_server, tables):
        before = time.monotonic()
        for _ in range(2 * tables.pool_size):
            with anyio.move_on_after(0.2) as scope:
                await traces.record([invocation("cancelled")])
            assert scope.cancelled_caught
        # As many as the pool has were given up, and the next gets a connection all the same.
        assert await catalogue.get(["nothing"]) == {}
        assert time.monotonic() - before < tables.timeout_seconds / 2
    await traces.record([invocation("after")])
    assert await traces.get("after") is not None
    with superuser(postgres_server) as connection:
        ((open_transactions,),) = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'evidence-lookup' "
            "AND state LIKE 'idle in transaction%'"
        ).fetchall()
    assert open_transactions == 0
    await catalogue.aclose()


async def test_a_killed_server_is_found_again_at_once(
    traces: PostgresTraces,
    tables: PostgresSettings,
    postgres_server: Server,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Calls fail at once while it is down, nothing is logged, and the first one after works."""
    catalogue = PostgresCatalogue(tables)
    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(traces.record, [invocation(f"before {number}")])
            tasks.start_soon(catalogue.revision)
    with postgres_server.down():
        before = time.monotonic()
        for _ in range(5):
            for call in (traces.record([invocation("down")]), catalogue.entries()):
                with pytest.raises(BackendUnavailableError, match=r"postgres\.url"):
                    await call
        assert time.monotonic() - before < tables.timeout_seconds / 2
    await _once_it_lets_in(catalogue.entries)
    await traces.record([invocation("up")])
    assert await traces.get("up") is not None
    assert await traces.get("before 7") is not None
    assert not [one for one in caplog.records if one.name.startswith("psycopg")]
    await catalogue.aclose()


def test_a_frozen_server_costs_no_more_than_the_time_that_is_set(
    tables: PostgresSettings, postgres_server: Server
) -> None:
    """On open and on new connections, cancelled or not, and at the end of the program."""
    quick = evolve(tables, timeout_seconds=2, connect_timeout_seconds=1)
    room = 15.0

    async def use() -> None:
        traces, catalogue = PostgresTraces(quick), PostgresCatalogue(quick)
        await traces.record([invocation("before the freeze")])
        with postgres_server.paused():
            before = time.monotonic()
            for number in range(2):  # on the connection that is open, then on a new one
                with pytest.raises(BackendTimeoutError, match=r"postgres\.(connect-)?timeout"):
                    await traces.record([invocation(f"frozen {number}")])
            with anyio.move_on_after(0.5) as scope:
                await catalogue.put([entry("frozen")])
            assert scope.cancelled_caught
            await catalogue.aclose()
            assert time.monotonic() - before < room
        await _once_it_lets_in(lambda: traces.record([invocation("after the freeze")]))
        assert await traces.get("after the freeze") is not None
        await traces.record([invocation("in use")])
        with postgres_server.paused():
            before = time.monotonic()
            async with anyio.create_task_group() as tasks:
                for number in range(3):
                    tasks.start_soon(_fails, traces.get, f"{number}")
            await traces.aclose()
            assert time.monotonic() - before < room

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        anyio.run(use)


def test_a_program_that_ends_while_the_server_is_frozen_ends(
    tables: PostgresSettings, postgres_server: Server
) -> None:
    """Without closing anything, in mid-connection."""

    async def use() -> None:
        with anyio.move_on_after(0.5):
            await PostgresTraces(tables).get("a")

    with postgres_server.paused():
        before = time.monotonic()
        anyio.run(use)
        assert time.monotonic() - before < tables.timeout_seconds / 2


async def _fails(call: Callable[[str], Awaitable[object]], argument: str) -> None:
    with pytest.raises(BackendTimeoutError, match=r"postgres\..*timeout-seconds"):
        await call(argument)


async def _once_it_lets_in(call: Callable[[], Awaitable[object]]) -> None:
    """A server that starts answers before it lets anybody in; that is told as unavailable."""
    with anyio.fail_after(60):
        while True:
            try:
                await call()
            except BackendError as error:
                if not error.retryable:
                    raise
                await anyio.sleep(0.1)
            else:
                return
