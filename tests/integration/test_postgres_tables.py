"""What stands in the tables, and how it is found there."""

import time
from collections.abc import AsyncIterator, Iterator

import anyio
import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql
from tests.arbitrary import any_of
from tests.postgres_schema import Connection, fresh_schema, superuser
from tests.servers import Server

from evidence_lookup.adapters.postgres import (
    PostgresCatalogue,
    PostgresSettings,
    PostgresTraces,
    migrate,
)
from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.errors import BackendFailedError
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.domain.trace_filter import TraceFilter
from evidence_lookup.testing.samples import block, entry, invocation, result

_FEW = settings(
    deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
_TIMES = 12
_ROWS = """
    INSERT INTO tool_invocation
    SELECT 'row ' || n, tool_name, 'session ' || n % 500, query,
           CASE WHEN n % 200 = 0 THEN 'unavailable' ELSE 'found' END, retrieval_layer,
           candidate_count, block_count, duration_seconds, timings,
           created_at - make_interval(mins => n),
           jsonb_set(retrieval_details, '{evidence_blocks,0,evidence_key}',
                     to_jsonb('doc ' || n % 700 || '#chunk-0')), schema_version
    FROM tool_invocation, generate_series(1, 5000) AS n WHERE id = 'model'
"""


@pytest.fixture(scope="module")
def tables(postgres_server: Server) -> Iterator[PostgresSettings]:
    """Tables for all tests of this module, made once."""
    with fresh_schema(postgres_server, timeout_seconds=60) as postgres:
        anyio.run(migrate, postgres)
        yield postgres


@pytest.fixture
def server(postgres_server: Server, tables: PostgresSettings) -> Iterator[Connection]:
    """A connection of our own, in the schema of the tables, which are empty."""
    with superuser(postgres_server) as connection:
        connection.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(tables.schema)))
        connection.execute("TRUNCATE tool_invocation, document")
        yield connection


@pytest.fixture
async def traces(tables: PostgresSettings, server: Connection) -> AsyncIterator[PostgresTraces]:
    """Records in an empty table."""
    traces = PostgresTraces(tables)
    yield traces
    await traces.aclose()


async def test_R45_R46_the_details_have_the_names_of_the_record(
    traces: PostgresTraces, server: Connection
) -> None:
    """`retrieval_details` has exactly its keys, and a block is there without its content."""
    await traces.record([invocation()])
    ((details, query, layer),) = server.execute(
        "SELECT retrieval_details, query, retrieval_layer FROM tool_invocation"
    ).fetchall()
    assert sorted(details) == [
        "context_pack_summary",
        "evidence_blocks",
        "fallback_reason",
        "query_transform",
        "rerank_trace",
        "retrieval_trace",
    ]
    assert (query, layer) == ("How long do we wait before a retry?", "L0+L1")
    (kept,) = details["evidence_blocks"]
    assert {"evidence_key", "source", "title", "score", "preview", "hit_reasons"} <= set(kept)
    assert "content" not in kept


@_FEW
@given(st.lists(any_of(ToolInvocation), max_size=3, unique_by=lambda one: one.id))
def test_any_record_comes_back_equal(
    tables: PostgresSettings, server: Connection, records: list[ToolInvocation]
) -> None:
    """Whatever a record holds, it is found by its id and session, and all by their time."""

    async def check() -> None:
        traces = PostgresTraces(tables)
        await traces.record(records)
        for one in records:
            assert await traces.get(one.id) == one
            if one.session_id is not None:
                where = TraceFilter(session_id=one.session_id)
                assert one in await traces.recent(limit=9, where=where)
        newest = sorted(records, key=lambda one: (one.created_at, one.id), reverse=True)
        assert list(await traces.recent(limit=9)) == newest
        await traces.aclose()

    server.execute("TRUNCATE tool_invocation")
    anyio.run(check)


@_FEW
@given(st.lists(any_of(CatalogueEntry), max_size=3))
def test_any_entry_comes_back_equal(
    tables: PostgresSettings, server: Connection, entries: list[CatalogueEntry]
) -> None:
    """Whatever an entry holds, it is found by its id, and all of them in their order."""

    async def check() -> None:
        catalogue = PostgresCatalogue(tables)
        await catalogue.put(entries)
        last = {one.doc_id: one for one in entries}
        assert await catalogue.get(list(last)) == last
        assert list(await catalogue.entries()) == [last[doc_id] for doc_id in sorted(last)]
        await catalogue.aclose()

    server.execute("TRUNCATE document")
    anyio.run(check)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30])
async def test_a_number_beyond_the_columns_is_refused(traces: PostgresTraces, number: int) -> None:
    """It is an error of this library, nothing is stored, and recording works on after."""
    with pytest.raises(BackendFailedError, match="out of range"):
        await traces.record([invocation("a"), evolve(invocation("b"), candidate_count=number)])
    assert await traces.recent(limit=9) == ()
    await traces.record([evolve(invocation("b"), candidate_count=2**63 - 1)])


async def test_an_id_beyond_the_index_is_refused(traces: PostgresTraces) -> None:
    """An error without the text says so, and recording works on after."""
    vast = "".join(f"{number}" for number in range(5_000))
    with pytest.raises(BackendFailedError, match="index row") as caught:
        await traces.record([invocation("a", session_id=vast)])
    assert "1234" not in str(caught.value)
    await traces.record([invocation("a")])


@pytest.mark.parametrize(
    ("index", "where"),
    [
        ("tool_invocation_created_at", TraceFilter()),
        ("tool_invocation_session_id", TraceFilter(session_id="session 7")),
        (
            "tool_invocation_evidence_status",
            TraceFilter(evidence_status=EvidenceStatus.UNAVAILABLE),
        ),
        ("tool_invocation_evidence_blocks", TraceFilter(evidence_key="doc 7#chunk-0")),
    ],
)
async def test_each_filter_has_its_index(
    traces: PostgresTraces, server: Connection, index: str, where: TraceFilter
) -> None:
    """Of some thousand records those that pass are found by an index, with no sorting of all."""
    await traces.record([invocation(of=result(invocation_id="model", blocks=[block()]))])
    server.execute(_ROWS)
    server.execute("ANALYZE tool_invocation")
    server.execute("SELECT pg_stat_reset_single_table_counters(%s::regclass)", [index])
    # So often that the server makes one plan for whatever values.
    found: tuple[ToolInvocation, ...] = ()
    for _ in range(_TIMES):
        found = await traces.recent(limit=5, where=where)
    assert len(found) == 5
    assert all(where.passes(one) for one in found)
    await traces.aclose()
    assert _scans(server, index) == _TIMES


def _scans(server: Connection, index: str) -> int:
    """How often *index* was used; a server counts a little later, at the latest after a session."""
    count = 0
    deadline = time.monotonic() + 20
    while count < _TIMES and time.monotonic() < deadline:
        ((count,),) = server.execute(
            "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelid = %s::regclass", [index]
        ).fetchall()
        time.sleep(0.1)
    return count


async def test_pruning_goes_on_until_all_is_gone(
    traces: PostgresTraces, server: Connection
) -> None:
    """More records than go in one step all go, and are counted."""
    await traces.record([invocation("model")])
    server.execute(_ROWS)
    assert await traces.prune(keep=100, dry_run=True) == 4_901
    assert await traces.prune(keep=100) == 4_901
    assert len(await traces.recent(limit=999)) == 100


async def test_hosts_that_store_the_same_records_at_once_all_can(
    tables: PostgresSettings, server: Connection
) -> None:
    """Batches in any order block one another for a moment, and never for good."""
    records = [invocation(f"{number:03}") for number in range(200)]
    hosts = [PostgresTraces(evolve(tables, pool_size=size)) for size in range(1, 9)]
    async with anyio.create_task_group() as tasks:
        for number, host in enumerate(hosts):
            tasks.start_soon(host.record, records if number % 2 else records[::-1])
    assert server.execute("SELECT count(*) FROM tool_invocation").fetchone() == (200,)
    for host in hosts:
        await host.aclose()


async def test_hosts_that_write_the_catalogue_at_once_all_can(tables: PostgresSettings) -> None:
    """Writes of the same entries in any order are all done, and each gives a new revision."""
    ids = [f"{number:03}" for number in range(50)]
    hosts = [PostgresCatalogue(evolve(tables, pool_size=size)) for size in range(1, 7)]
    seen: set[str] = set()

    async def write(host: PostgresCatalogue, number: int) -> None:
        order = ids if number % 2 else ids[::-1]
        for title in ("one", "two"):
            await host.put([entry(one, title=f"{title} of {number}") for one in order])
            seen.add(await host.revision())
            await host.remove(order[:5])

    async with anyio.create_task_group() as tasks:
        for number, host in enumerate(hosts):
            tasks.start_soon(write, host, number)
    assert len({one.title for one in await hosts[0].entries()}) == 1
    assert len(seen) > len(hosts)
    for host in hosts:
        await host.aclose()
