"""Several adapters and processes share one SQLite file."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from evidence_lookup.adapters.sqlite import SqliteCatalogue, SqliteTraces
from evidence_lookup.testing.samples import block, entry, invocation, result

pytestmark = pytest.mark.anyio

_WRITER = """
import asyncio, sys
from evidence_lookup.adapters.sqlite import SqliteCatalogue, SqliteTraces
from evidence_lookup.testing.samples import entry, invocation

async def main(path, name, count):
    catalogue, traces = SqliteCatalogue(path), SqliteTraces(path)
    for number in range(count):
        await catalogue.put([entry(f"{name}-{number}")])
        await traces.record([invocation(f"{name}-{number}", session_id=name)])
        await catalogue.put([entry("shared", title=f"{name}-{number}")])
    await catalogue.aclose()
    await traces.aclose()

print("ready", flush=True)
sys.stdin.readline()
asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


def _start_writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    """A process that waits for a line before it writes."""
    writer = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path), name, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    return writer


def _let_go(writer: subprocess.Popen[str]) -> None:
    assert writer.stdin is not None
    writer.stdin.write("go\n")
    writer.stdin.flush()


def _files(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


@pytest.mark.parametrize("round_", range(3))
async def test_processes_that_start_and_write_at_once_lose_nothing(
    tmp_path: Path, round_: int
) -> None:
    """Processes make the file together, then each write of each of them is kept."""
    path, count, names = tmp_path / "data" / f"{round_}.sqlite", 40, ("a", "b", "c")
    writers = [_start_writer(path, name, count) for name in names]
    for writer in writers:
        _let_go(writer)
    for writer in writers:
        _, complaints = writer.communicate(timeout=120)
        assert (writer.returncode, complaints) == (0, "")
    catalogue, traces = SqliteCatalogue(path), SqliteTraces(path)
    expected = {f"{name}-{number}" for name in names for number in range(count)}
    assert {one.doc_id for one in await catalogue.entries()} == expected | {"shared"}
    assert {one.id for one in await traces.recent(limit=999)} == expected
    await catalogue.aclose()
    await traces.aclose()


async def test_two_adapters_see_each_other(tmp_path: Path) -> None:
    """What one adapter wrote, another one on the file reads at once, with a new revision."""
    path = tmp_path / "knowledge.sqlite"
    one, other = SqliteCatalogue(path), SqliteCatalogue(path)
    before = await other.revision()
    await one.put([entry("a")])
    assert await other.entries() == (entry("a"),)
    after = await other.revision()
    assert before != after == await one.revision()
    await other.remove(["a"])
    assert await one.entries() == ()
    assert await one.revision() not in (before, after)
    await one.aclose()
    await other.aclose()


async def test_two_adapters_write_at_once(tmp_path: Path) -> None:
    """Writes of two adapters in one process are all kept."""
    path = tmp_path / "knowledge.sqlite"
    adapters = (SqliteTraces(path), SqliteTraces(path))
    async with anyio.create_task_group() as tasks:
        for number in range(60):
            tasks.start_soon(adapters[number % 2].record, [invocation(f"{number:02}")])
    assert len(await adapters[0].recent(limit=99)) == 60
    for adapter in adapters:
        await adapter.aclose()


async def test_a_reopened_file_keeps_its_data(tmp_path: Path) -> None:
    """Another adapter finds entries, records and revision as they were."""
    path = tmp_path / "knowledge.sqlite"
    catalogue, traces = SqliteCatalogue(path), SqliteTraces(path)
    await catalogue.put([entry("数据库", keywords=["豆腐 😀", "it's"])])
    await traces.record([invocation()])
    revision = await catalogue.revision()
    await catalogue.aclose()
    await catalogue.aclose()
    await traces.aclose()
    assert _files(tmp_path) == ["knowledge.sqlite"]
    catalogue, traces = SqliteCatalogue(path), SqliteTraces(path)
    assert await catalogue.entries() == (entry("数据库", keywords=["豆腐 😀", "it's"]),)
    assert await catalogue.revision() == revision
    assert await traces.get("0195-a") == invocation()
    await catalogue.aclose()
    await traces.aclose()


async def test_records_can_be_queried_by_other_programs(tmp_path: Path) -> None:
    """The table `tool_invocation` has its columns, and its details are JSON (R45, R47)."""
    traces = SqliteTraces(tmp_path / "knowledge.sqlite")
    await traces.record([invocation(session_id="s")])
    with closing(sqlite3.connect(tmp_path / "knowledge.sqlite")) as other:
        other.row_factory = sqlite3.Row
        (row,) = other.execute(
            """
            SELECT *,
                json_extract(retrieval_details, '$.retrieval_trace.selected_attempt') AS selected,
                (SELECT group_concat(key) FROM json_each(retrieval_details)) AS keys
            FROM tool_invocation
            """
        ).fetchall()
        indexed = {
            column
            for (index,) in other.execute("SELECT name FROM sqlite_master WHERE type = 'index'")
            for (_, _, column) in other.execute(f"PRAGMA index_info({index})").fetchmany(1)
        }
    assert row.keys()[:-2] == [
        "id",
        "tool_name",
        "session_id",
        "query",
        "evidence_status",
        "retrieval_layer",
        "candidate_count",
        "block_count",
        "duration_seconds",
        "timings",
        "created_at",
        "retrieval_details",
        "schema_version",
    ]
    assert row["evidence_status"] == "found"
    assert row["retrieval_layer"] == "L0+L1"
    assert row["created_at"] == "2025-03-09T16:05:07.250000+00:00"
    assert row["timings"] == '{"transform":0.001,"retrieve":0.02}'
    assert row["selected"] == "filtered"
    assert set(row["keys"].split(",")) == {
        "query_transform",
        "retrieval_trace",
        "context_pack_summary",
        "rerank_trace",
        "evidence_blocks",
        "fallback_reason",
    }
    assert {"created_at", "session_id"} <= indexed
    await traces.aclose()


async def test_a_record_of_many_large_chunks_is_a_small_row(tmp_path: Path) -> None:
    """200 candidates of 5 kB make a row of less than 1 kB for each (C71)."""
    blocks = [block(f"guide#chunk-{number}", "word " * 1_000) for number in range(200)]
    traces = SqliteTraces(tmp_path / "knowledge.sqlite")
    await traces.record([invocation(of=result(blocks=blocks))])
    with closing(sqlite3.connect(tmp_path / "knowledge.sqlite")) as other:
        (size,) = other.execute("SELECT length(retrieval_details) FROM tool_invocation").fetchone()
    assert 200 < size < 200 * 1_000
    await traces.aclose()
