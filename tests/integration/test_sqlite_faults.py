"""What goes wrong with a SQLite file comes out as this library's errors, and nothing is lost."""

import math
import shutil
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from attrs import evolve

from evidence_lookup.adapters.sqlite import SqliteCatalogue, SqliteTraces
from evidence_lookup.domain.errors import (
    BackendFailedError,
    BackendTimeoutError,
    StorageError,
)
from evidence_lookup.testing.samples import entry, invocation

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database is going to be."""
    return tmp_path / "knowledge.sqlite"


@pytest.fixture
async def catalogue(path: Path) -> AsyncIterator[SqliteCatalogue]:
    """A catalogue that gives up a lock soon."""
    catalogue = SqliteCatalogue(path, busy_timeout_seconds=0.1)
    yield catalogue
    await catalogue.aclose()


@pytest.fixture
async def traces(path: Path) -> AsyncIterator[SqliteTraces]:
    """Traces in the same file."""
    traces = SqliteTraces(path, busy_timeout_seconds=0.1)
    yield traces
    await traces.aclose()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB of its own, where the system lets tests mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    if mount is None:
        pytest.skip("there is no mount command")
    options = ["-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    done = subprocess.run([mount, *options], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    yield folder
    # A test that failed may hold a file open.
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _make_folder(path: Path) -> None:
    path.mkdir()


def _make_file(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _content(path: Path) -> bytes:
    return path.read_bytes()


def _make_read_only(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)


async def test_a_path_below_a_file_is_a_storage_error(tmp_path: Path) -> None:
    """Where no file can be, reading and writing name the path and the setting."""
    (tmp_path / "file").write_text("")
    catalogue = SqliteCatalogue(tmp_path / "file" / "knowledge.sqlite")
    with pytest.raises(StorageError, match=r"file/knowledge.sqlite.*data-dir"):
        await catalogue.entries()
    with pytest.raises(StorageError, match=r"file/knowledge.sqlite.*data-dir"):
        await catalogue.put([entry()])
    await catalogue.aclose()


async def test_a_folder_in_the_place_of_the_file_is_a_storage_error(
    path: Path, catalogue: SqliteCatalogue
) -> None:
    """A folder is no database."""
    _make_folder(path)
    with pytest.raises(StorageError, match="data-dir"):
        await catalogue.revision()


async def test_a_full_disk_is_a_storage_error_and_keeps_what_was_written(small_disk: Path) -> None:
    """A batch that has no room is undone whole; with room again it is written."""
    catalogue = SqliteCatalogue(small_disk / "knowledge.sqlite")
    traces = SqliteTraces(small_disk / "knowledge.sqlite")
    await catalogue.put([entry("before")])
    batch = [entry(f"{number}", title="x" * 10_000) for number in range(200)]
    with pytest.raises(StorageError, match=r"knowledge.sqlite.*space"):
        await catalogue.put(batch)
    assert await catalogue.entries() == (entry("before"),)
    ballast = small_disk / "ballast"
    with pytest.raises(OSError, match="No space"):
        ballast.write_bytes(b"x" * 2**20)
    with pytest.raises(StorageError, match="space"):
        await traces.record([invocation(f"{number}") for number in range(2_000)])
    assert await traces.recent(limit=1) == ()
    ballast.unlink()
    await traces.record([invocation()])
    await catalogue.put(batch[:10])
    assert len(await catalogue.entries()) == 11
    assert await traces.get("0195-a") == invocation()
    await catalogue.aclose()
    await traces.aclose()


async def test_a_full_disk_at_the_start_is_a_storage_error(small_disk: Path) -> None:
    """A database that cannot even be made says so, and is made once there is room."""
    ballast = small_disk / "ballast"
    with pytest.raises(OSError, match="No space"):
        ballast.write_bytes(b"x" * 2**21)
    catalogue = SqliteCatalogue(small_disk / "knowledge.sqlite")
    with pytest.raises(StorageError, match="space"):
        await catalogue.put([entry()])
    ballast.unlink()
    await catalogue.put([entry()])
    assert await catalogue.entries() == (entry(),)
    await catalogue.aclose()


async def test_a_read_only_disk_is_a_storage_error(small_disk: Path) -> None:
    """Where nothing may be written, even for root, the error names the path."""
    _make_read_only(small_disk)
    catalogue = SqliteCatalogue(small_disk / "knowledge.sqlite")
    with pytest.raises(StorageError, match=r"knowledge.sqlite.*data-dir"):
        await catalogue.put([entry()])
    await catalogue.aclose()


async def test_a_file_that_is_no_database_is_left_alone(
    path: Path, catalogue: SqliteCatalogue
) -> None:
    """Foreign bytes are refused with what to do, and not touched."""
    before = b"not a database, but long enough to have a header of its own. " * 20
    _make_file(path, before)
    with pytest.raises(BackendFailedError, match=r"knowledge.sqlite.*move it away"):
        await catalogue.entries()
    assert _content(path) == before


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE other (x)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"],
)
async def test_the_database_of_another_product_is_left_alone(
    path: Path, catalogue: SqliteCatalogue, statement: str
) -> None:
    """A database with tables or marks that are not ours is refused, and not touched."""
    with closing(sqlite3.connect(path)) as other:
        other.execute(statement)
    before = _content(path)
    with pytest.raises(BackendFailedError, match="another product"):
        await catalogue.put([entry()])
    assert _content(path) == before


async def test_a_newer_schema_is_refused_with_both_versions(
    path: Path, catalogue: SqliteCatalogue
) -> None:
    """A file that a later release wrote is not touched; the error names both versions."""
    await catalogue.put([entry()])
    await catalogue.aclose()
    with closing(sqlite3.connect(path)) as later:
        later.execute("PRAGMA user_version = 99")
    with pytest.raises(BackendFailedError, match=r"version 99.* up to 1 "):
        await catalogue.entries()


async def test_a_damaged_file_is_refused(path: Path, catalogue: SqliteCatalogue) -> None:
    """Bytes overwritten behind the header are an error that says what to do, not an answer."""
    await catalogue.put([entry(f"{number}", title="x" * 1_000) for number in range(200)])
    await catalogue.aclose()
    content = bytearray(_content(path))
    content[4_096:] = b"\x55" * (len(content) - 4_096)
    _make_file(path, bytes(content))
    with pytest.raises(BackendFailedError, match="move it away"):
        await catalogue.entries()


async def test_a_damaged_row_is_named(
    path: Path, catalogue: SqliteCatalogue, traces: SqliteTraces
) -> None:
    """A row that is not as it was written is an error that names the file and the row."""
    await catalogue.put([entry("a"), entry("b")])
    await traces.record([invocation("a"), invocation("b")])
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE document SET keywords = '[' WHERE doc_id = 'b'")
        other.execute("UPDATE tool_invocation SET retrieval_details = '{}' WHERE id = 'b'")
        other.commit()
    with pytest.raises(BackendFailedError, match=r"knowledge.sqlite.*'b'"):
        await catalogue.entries()
    with pytest.raises(BackendFailedError, match=r"knowledge.sqlite.*'b'"):
        await traces.recent(limit=9)
    assert await catalogue.get(["a"]) == {"a": entry("a")}
    assert await traces.get("a") == invocation("a")


async def test_a_locked_database_is_a_timeout_for_writers_only(
    path: Path, catalogue: SqliteCatalogue, traces: SqliteTraces
) -> None:
    """While another process writes on and on, writing times out, and reading goes on."""
    await catalogue.put([entry()])
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BackendTimeoutError, match=r"knowledge.sqlite.*locked") as caught:
            await catalogue.put([entry("b")])
        assert caught.value.retryable
        with pytest.raises(BackendTimeoutError):
            await traces.record([invocation()])
        assert await catalogue.entries() == (entry(),)
    await catalogue.put([entry("b")])
    await traces.record([invocation()])
    assert len(await catalogue.entries()) == 2


async def test_a_new_file_that_is_locked_is_a_timeout(
    path: Path, catalogue: SqliteCatalogue
) -> None:
    """A file that another process is making takes its time, then it can be used."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(BackendTimeoutError):
            await catalogue.entries()
    assert await catalogue.entries() == ()


async def test_a_caller_that_is_cancelled_goes_on_at_once(path: Path) -> None:
    """A deadline holds although the database is locked for longer (R49)."""
    traces = SqliteTraces(path, busy_timeout_seconds=60)
    await traces.record([invocation("a")])
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with anyio.move_on_after(0.05) as scope:
            await traces.record([invocation("b")])
        assert scope.cancelled_caught
        assert await traces.get("b") is None
    await traces.record([invocation("c")])
    assert await traces.get("c") == invocation("c")
    await traces.aclose()


async def test_many_waiting_writers_leave_the_program_its_threads(path: Path) -> None:
    """Tasks that wait for the database take one worker thread, not all that there are."""
    catalogue = SqliteCatalogue(path, busy_timeout_seconds=60)
    await catalogue.entries()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(catalogue.put, [entry(f"{number}")])
            await anyio.sleep(0.05)
            with anyio.fail_after(30):
                assert await anyio.to_thread.run_sync(lambda: "free") == "free"
            other.execute("COMMIT")
    assert len(await catalogue.entries()) == 100
    await catalogue.aclose()


async def test_a_deleted_file_is_made_anew(
    path: Path, catalogue: SqliteCatalogue, traces: SqliteTraces
) -> None:
    """Deleted under a running process, the file is empty from then on, and seen by others."""
    await catalogue.put([entry("a")])
    await traces.record([invocation("a")])
    before = await catalogue.revision()
    for file in path.parent.glob("knowledge.sqlite*"):
        file.unlink()
    assert await catalogue.entries() == ()
    assert await catalogue.revision() != before
    assert await traces.get("a") is None
    await catalogue.put([entry("b")])
    await traces.record([invocation("b")])
    other = SqliteCatalogue(path)
    assert await other.entries() == (entry("b"),)
    await other.aclose()


async def test_a_deleted_folder_is_made_anew(tmp_path: Path) -> None:
    """Writing goes on after the whole data folder was deleted."""
    folder = tmp_path / "data"
    catalogue = SqliteCatalogue(folder / "knowledge.sqlite")
    await catalogue.put([entry("a")])
    shutil.rmtree(folder)
    await catalogue.put([entry("b")])
    assert await catalogue.entries() == (entry("b"),)
    await catalogue.aclose()


async def test_a_restored_copy_is_seen(
    tmp_path: Path, path: Path, catalogue: SqliteCatalogue
) -> None:
    """A file put in the place of another is read from then on, under its own revision."""
    other = SqliteCatalogue(tmp_path / "other.sqlite")
    await other.put([entry("copy")])
    await other.aclose()
    await catalogue.put([entry("a")])
    before = await catalogue.revision()
    for file in path.parent.glob("knowledge.sqlite-*"):
        file.unlink()
    (tmp_path / "other.sqlite").replace(path)
    assert await catalogue.entries() == (entry("copy"),)
    assert await catalogue.revision() != before


async def test_a_number_beyond_64_bits_undoes_its_batch(
    catalogue: SqliteCatalogue, traces: SqliteTraces
) -> None:
    """What a column cannot hold is refused together with its whole batch."""
    await catalogue.put([entry("a")])
    before = await catalogue.revision()
    with pytest.raises(BackendFailedError, match="number"):
        await catalogue.put([entry("b"), entry("c", chunk_count=2**63), entry("d")])
    assert await catalogue.entries() == (entry("a"),)
    assert await catalogue.revision() == before
    with pytest.raises(BackendFailedError, match="number"):
        await traces.record([invocation("b"), evolve(invocation("c"), block_count=2**63)])
    assert await traces.recent(limit=9) == ()


async def test_a_duration_that_is_no_number_is_kept_as_none(traces: SqliteTraces) -> None:
    """NaN and infinity harm no record; they come back as NaN (C26)."""
    odd = evolve(invocation(), duration_seconds=math.inf, timings={"retrieve": math.nan})
    await traces.record([odd])
    found = await traces.get("0195-a")
    assert found is not None
    assert math.isnan(found.duration_seconds)
    assert math.isnan(found.timings["retrieve"])
    assert found.retrieval_details == odd.retrieval_details
