"""Whatever befalls the trace store, answers are right and on time, and no record is lost (R49)."""

import logging
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import anyio
import anyio.to_thread
import psycopg
import pytest
from attrs import evolve
from psycopg import sql
from tests.integration.conftest import POSTGRES, Start
from tests.servers import Server

from evidence_lookup import KnowledgeBase, Settings, open_knowledge_base
from evidence_lookup.adapters.postgres import migrate
from evidence_lookup.adapters.postgres.settings import PostgresSettings
from evidence_lookup.settings import EmbedderSettings, RagSettings, TraceSettings

_log = logging.getLogger(__name__)
LOOKUPS, AT_ONCE, BEFORE_THE_FAULT, UNDER_THE_FAULT = 500, 16, 100, 300
# Two trace timeouts and the lookup itself, on a busy machine.
LATE_SECONDS = 5.0
RECOVERY_SECONDS = 60.0
SCHEMA = "recording_faults"
HOST = Path(__file__).with_name("recording_host.py")
WORDS = ["kettle", "ladder", "magnet", "needle", "oyster", "pillow", "quiver", "ribbon"]


@pytest.fixture(scope="module")
def small_server(start_server: Start) -> Server:
    """A server of its own whose volume holds 192 MB."""
    return start_server(evolve(POSTGRES, tmpfs={"/var/lib/postgresql/data": "size=192m,uid=999"}))


@pytest.fixture(scope="module")
def server(start_server: Start) -> Server:
    """A server of its own, since it changes its password and loses its tables."""
    return start_server(POSTGRES)


@contextmanager
def restarted(server: Server) -> Generator[None]:
    """Inside, it has just been restarted."""
    server.kill()
    server.restart()
    yield


@contextmanager
def wrong_password(server: Server) -> Generator[None]:
    """Inside, the server no longer knows the password that the settings hold."""
    with _within(server) as run:
        run("ALTER ROLE evidence PASSWORD 'another'")
        run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid != pg_backend_pid()")
        try:
            yield
        finally:
            run("ALTER ROLE evidence PASSWORD 'in-tests-only'")


@contextmanager
def missing_table(server: Server) -> Generator[None]:
    """Inside, the table is not there."""
    with _within(server) as run:
        run(f"ALTER TABLE {SCHEMA}.tool_invocation RENAME TO elsewhere")
        try:
            yield
        finally:
            run(f"ALTER TABLE {SCHEMA}.elsewhere RENAME TO tool_invocation")


@contextmanager
def full_disk(server: Server) -> Generator[None]:
    """Inside, nothing more fits on the server's volume."""
    filler = "/var/lib/postgresql/data/filler"
    _, told = server.run("sh", "-c", f"dd if=/dev/zero of={filler} bs=64k; df {filler} | tail -1")
    assert re.search(r"\b100%", told), told
    try:
        yield
    finally:
        server.run("rm", filler)


@contextmanager
def _within(server: Server) -> Generator[Callable[[str], object]]:
    with psycopg.connect(server.url, autocommit=True) as connection:
        yield lambda statement: connection.execute(statement.encode())


FAULTS: dict[str, Callable[[Server], AbstractContextManager[None]]] = {
    "killed": Server.down,
    "paused": Server.paused,
    "disconnected": Server.disconnected,
    "restarted": restarted,
    "wrong_password": wrong_password,
    "missing_table": missing_table,
    "full_disk": full_disk,
}


def settings_for(server: Server, folder: Path) -> Settings:
    """Knowledge in memory, records in PostgreSQL."""
    return Settings(
        data_dir=folder,
        store="memory",
        rag=RagSettings(reference_threshold=0.02, evidence_floor=0.01),
        embedder=EmbedderSettings(kind="memory"),
        trace=TraceSettings(store="postgres"),
        postgres=PostgresSettings(
            server.url, schema=SCHEMA, connect_timeout_seconds=2.0, timeout_seconds=2.0
        ),
    )


def documents(folder: Path) -> Path:
    """One short document for each word."""
    folder.mkdir()
    for word in WORDS:
        text = f"# About the {word}\n\nWhere the {word} is kept.\n"
        (folder / f"{word}.md").write_text(text, encoding="utf-8")
    return folder


async def recorded_ids(settings: Settings) -> Counter[str]:
    """The ids in the table, as the database itself counts them."""
    async with await psycopg.AsyncConnection[Any].connect(settings.postgres.url) as connection:
        query = sql.SQL("SELECT id FROM {}.tool_invocation").format(sql.Identifier(SCHEMA))
        return Counter([row[0] async for row in await connection.execute(query)])


@pytest.fixture(params=list(FAULTS))
def fault(request: pytest.FixtureRequest) -> str:
    """What befalls the server."""
    name: str = request.param
    return name


@pytest.fixture
def hurt(fault: str, request: pytest.FixtureRequest) -> Server:
    """The server that the fault is for."""
    wanted = "small_server" if fault == "full_disk" else "server"
    server: Server = request.getfixturevalue(wanted)
    return server


async def with_new_tables(settings: Settings) -> Settings:
    """*settings*, with empty tables in their schema."""
    with psycopg.connect(settings.postgres.url, autocommit=True) as connection:
        schema = sql.Identifier(SCHEMA)
        connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(schema))
    await migrate(settings.postgres)
    return settings


async def test_R49_no_fault_of_the_store_harms_an_answer_or_loses_a_record(
    fault: str, hurt: Server, tmp_path: Path
) -> None:
    """500 lookups run through the fault: each is right and on time, each is recorded once."""
    settings = await with_new_tables(settings_for(hurt, tmp_path / "data"))
    answered: dict[str, float] = {}
    under_the_fault = anyio.Event()
    over = anyio.Event()
    asked = iter(range(LOOKUPS))

    async def ask(base: KnowledgeBase) -> None:
        for number in asked:
            if number == BEFORE_THE_FAULT:
                under_the_fault.set()
            if number == BEFORE_THE_FAULT + UNDER_THE_FAULT:
                await over.wait()
            word = WORDS[number % len(WORDS)]
            began = time.monotonic()
            result = await base.lookup(f"where is the {word} kept", session_id=fault)
            assert result.evidence_blocks[0].evidence_key == f"{word}.md#chunk-0"
            answered[result.invocation_id] = time.monotonic() - began

    async with open_knowledge_base(settings) as base:
        await base.ingest(documents(tmp_path / "docs"))
        async with anyio.create_task_group() as tasks:
            for _ in range(AT_ONCE):
                tasks.start_soon(ask, base)
            await under_the_fault.wait()
            await anyio.to_thread.run_sync(_through, FAULTS[fault](hurt), answered)
            over.set()
        recovered = time.monotonic()
        at_once = len(await recorded_ids(settings))
        while len(await recorded_ids(settings)) < LOOKUPS:
            assert time.monotonic() - recovered < RECOVERY_SECONDS, await base.spool_status()
            await anyio.sleep(0.2)
        _log.info(
            "%s: %d answers, %.2f s at the median and %.2f s at most; of their records %d stored "
            "when it was over, all after %.1f s",
            *(fault, len(answered), median(answered.values()), max(answered.values()), at_once),
            time.monotonic() - recovered,
        )
        assert (await base.spool_status()).pending == 0
        assert base.lost_records == 0
        assert len(await base.recent_traces(limit=LOOKUPS, session_id=fault)) == LOOKUPS
    assert await recorded_ids(settings) == Counter(list(answered))
    assert max(answered.values()) < LATE_SECONDS
    assert list((tmp_path / "data" / "spool").iterdir()) == []


def _through(fault: AbstractContextManager[None], answered: dict[str, float]) -> None:
    """Stay under the fault until the lookups that are meant for it are through."""
    with fault:
        began = time.monotonic()
        while len(answered) < BEFORE_THE_FAULT + UNDER_THE_FAULT - AT_ONCE:
            assert time.monotonic() - began < RECOVERY_SECONDS, len(answered)
            time.sleep(0.05)


@pytest.mark.parametrize("is_up", [True, False], ids=["store_up", "store_down"])
async def test_R49_a_host_that_is_killed_loses_no_answered_record(
    is_up: bool, server: Server, tmp_path: Path
) -> None:
    """After `kill -9` in the middle of lookups the next host delivers every answered record."""
    settings = await with_new_tables(settings_for(server, tmp_path / "data"))
    url = server.url if is_up else "postgresql://127.0.0.1:9"
    docs = documents(tmp_path / "docs")
    answered: list[str] = []
    for round_ in range(4):
        answered += await anyio.to_thread.run_sync(_killed_host, url, settings, docs, round_)
    assert len(answered) > 40
    async with open_knowledge_base(settings) as base:
        assert await base.settle_traces(timeout_seconds=RECOVERY_SECONDS)
        status = await base.spool_status()
        assert (status.pending, status.damaged) == (0, 0)
    found = await recorded_ids(settings)
    assert set(answered) <= found.keys()
    # Each kill may cut short lookups whose answers nobody has seen.
    assert len(found) <= len(answered) + 4 * AT_ONCE
    assert max(found.values()) == 1


def _killed_host(url: str, settings: Settings, docs: Path, round_: int) -> list[str]:
    """The ids of the lookups that a host had answered when it was killed."""
    arguments = [str(settings.data_dir), url, SCHEMA, str(docs), str(AT_ONCE)]
    with subprocess.Popen(
        [sys.executable, str(HOST), *arguments], stdout=subprocess.PIPE, text=True
    ) as host:
        assert host.stdout is not None
        answered = [host.stdout.readline().strip() for _ in range(10 + 7 * round_)]
        host.send_signal(signal.SIGKILL)
        answered += [line.strip() for line in host.stdout if line.endswith("\n")]
        assert host.wait() == -signal.SIGKILL
    assert all(answered)
    return answered
