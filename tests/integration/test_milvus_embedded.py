"""The embedded database in a world where things go wrong."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from evidence_lookup.adapters.milvus import MilvusKnowledge, MilvusSettings
from evidence_lookup.domain.errors import (
    BackendError,
    BackendUnavailableError,
    MissingExtraError,
    SettingsError,
    StorageError,
    StoreHeldError,
)
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL, asked, embedded

_OTHER_PROCESS = """
import asyncio, sys, warnings
warnings.simplefilter("ignore")
from evidence_lookup.adapters.milvus import MilvusKnowledge, MilvusSettings
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL, asked, embedded

async def main():
    knowledge = MilvusKnowledge(MilvusSettings(sys.argv[1]))
    try:
        await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        number = 0
        while sys.argv[2] == "write":
            await knowledge.upsert([embedded(f"d{number}", n) for n in range(5)])
            print(number, flush=True)
            number += 1
        print("ok", len((await knowledge.search(asked())).hits))
    except Exception as error:
        print(type(error).__name__, error)
    if sys.argv[2] == "hold":
        print("holding", flush=True)
        await asyncio.sleep(60)
    await knowledge.aclose()

asyncio.run(main())
"""


def other_process(path: Path, does: str, *before: str) -> "subprocess.Popen[str]":
    """Another Python that opens *path*, and ``read``s, ``write``s on and on, or ``hold``s it."""
    return subprocess.Popen(
        [*before, sys.executable, "-c", _OTHER_PROCESS, str(path), does],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(process: "subprocess.Popen[str]") -> str:
    """All that *process* printed, which must be nothing on stderr."""
    out, err = process.communicate(timeout=60)
    assert err == ""
    return out.strip()


async def opened(path: Path) -> MilvusKnowledge:
    """A prepared knowledge on *path* with one chunk."""
    knowledge = MilvusKnowledge(MilvusSettings(str(path)))
    await knowledge.prepare(model=MODEL, dimension=DIMENSION)
    await knowledge.upsert([embedded("a")])
    return knowledge


async def test_a_second_process_is_told(tmp_path: Path) -> None:
    """Each further process gets one sentence, at once; after closing, it gets the file."""
    path = tmp_path / "k.db"
    knowledge = await opened(path)
    for _ in range(2):
        before = time.perf_counter()
        answer = await asyncio.to_thread(lambda: said(other_process(path, "read")))
        assert answer.startswith("StoreHeldError another process has the database")
        assert "\n" not in answer
        assert time.perf_counter() - before < 20
    assert len((await knowledge.search(asked())).hits) == 1
    await knowledge.aclose()
    assert await asyncio.to_thread(lambda: said(other_process(path, "read"))) == "ok 1"


async def test_a_held_file_can_be_opened_later(tmp_path: Path) -> None:
    """The first call after the other process has ended succeeds."""
    path = tmp_path / "k.db"
    holder = other_process(path, "hold")
    assert holder.stdout is not None
    while (await asyncio.to_thread(holder.stdout.readline)).strip() != "holding":
        pass
    knowledge = MilvusKnowledge(MilvusSettings(str(path)))
    with pytest.raises(StoreHeldError):
        await knowledge.search(asked())
    holder.kill()
    holder.communicate()
    assert (await knowledge.search(asked())).hits == ()
    await knowledge.aclose()


async def test_two_in_one_process_share_the_file(tmp_path: Path) -> None:
    """Two adapters of one process use one database, and closing one leaves the other alone."""
    path = tmp_path / "k.db"
    first, second = await opened(path), await opened(path)
    await first.upsert([embedded("b")])
    await first.aclose()
    assert len((await second.search(asked())).hits) == 2
    await second.aclose()


def test_two_loops_in_two_threads(tmp_path: Path) -> None:
    """One adapter serves two event loops of two threads at once."""
    path = tmp_path / "k.db"
    knowledge = MilvusKnowledge(MilvusSettings(str(path)))
    counts: list[int] = []
    barrier = threading.Barrier(2)

    async def work() -> None:
        await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        await knowledge.upsert([embedded("a")])
        barrier.wait(30)
        for _ in range(20):
            counts.append(len((await knowledge.search(asked())).hits))
        barrier.wait(30)
        await knowledge.aclose()

    threads = [threading.Thread(target=asyncio.run, args=(work(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [1] * 40


async def test_the_server_child_dies(tmp_path: Path) -> None:
    """After a crash of the embedded server one call may fail; the next one has all rows."""
    knowledge = await opened(tmp_path / "k.db")
    child = _child_of(tmp_path / "k.db")
    os.kill(child, signal.SIGKILL)
    before = time.perf_counter()
    with suppress(BackendUnavailableError):
        await knowledge.search(asked())
    assert time.perf_counter() - before < 11
    assert [hit.id for hit in (await knowledge.search(asked())).hits] == ["a#chunk-0"]
    await knowledge.aclose()


async def keys_when_free(knowledge: MilvusKnowledge) -> set[str | None]:
    """All keys; the database's own process ends a moment after the one that was killed."""
    with anyio.fail_after(60):
        while True:
            with suppress(StoreHeldError):
                return {hit.id for hit in (await knowledge.search(asked(top_k=2_000))).hits}
            await anyio.sleep(0.2)


async def test_killed_while_writing(tmp_path: Path) -> None:
    """A process killed in the middle of upserts loses nothing that it was told is written."""
    path = tmp_path / "k.db"
    for _ in range(2):
        writer = other_process(path, "write")
        assert writer.stdout is not None
        last = -1
        for _ in range(15):
            last = int(await asyncio.to_thread(writer.stdout.readline))
        writer.send_signal(signal.SIGKILL)
        rest = writer.communicate()[0].split()
        last = int(rest[-1]) if rest else last
        knowledge = MilvusKnowledge(MilvusSettings(str(path)))
        keys = await keys_when_free(knowledge)
        assert {f"d{d}#chunk-{n}" for d in range(last + 1) for n in range(5)} <= keys
        await knowledge.aclose()


async def test_the_file_is_removed_under_us(tmp_path: Path) -> None:
    """Searches go on from memory, writes say that the file is gone, and nothing hangs."""
    path = tmp_path / "k.db"
    knowledge = await opened(path)
    path.unlink()
    assert len((await asyncio.wait_for(knowledge.search(asked()), 15)).hits) == 1
    with pytest.raises(StorageError, match=r"milvus.uri.*gone"):
        await asyncio.wait_for(knowledge.upsert([embedded("b")]), 15)
    await knowledge.aclose()
    await knowledge.prepare(model=MODEL, dimension=DIMENSION)
    assert (await knowledge.search(asked())).hits == ()
    await knowledge.aclose()


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv to be an ordinary user")
@pytest.mark.parametrize("existing", [True, False])
async def test_a_folder_that_cannot_be_written(tmp_path: Path, existing: bool) -> None:
    """A read-only folder is a storage error that names it."""
    folder = tmp_path / "data"
    folder.mkdir()
    if existing:
        await (await opened(folder / "k.db")).aclose()
        (folder / ".k.db.held").unlink()
    folder.chmod(0o555)
    # Root may write anywhere, unless it gives its rights away.
    before = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.geteuid() == 0 else ()
    answer = said(other_process(folder / "k.db", "read", *before))
    folder.chmod(0o755)
    assert answer.startswith("StorageError the folder of the database")


async def test_a_folder_is_made(tmp_path: Path) -> None:
    """Missing folders of the database are made."""
    path = tmp_path / "a" / "b" / "k.db"
    await (await opened(path)).aclose()
    assert path.exists()


@pytest.mark.parametrize("name", ["ü.db", "a b.db", "x" * 40 + ".db"])
async def test_names_that_it_does_not_take(tmp_path: Path, name: str) -> None:
    """A file name that the embedded database refuses is a fault of the settings."""
    with pytest.raises(SettingsError, match=r"milvus.uri.*36"):
        await MilvusKnowledge(MilvusSettings(str(tmp_path / name))).search(asked())


async def test_the_extra_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without milvus-lite the error names the extra."""
    monkeypatch.setitem(sys.modules, "milvus_lite.server_manager", None)
    with pytest.raises(MissingExtraError, match=r"evidence-lookup\[local\]"):
        await MilvusKnowledge(MilvusSettings(str(tmp_path / "k.db"))).search(asked())


async def test_no_database_file(tmp_path: Path) -> None:
    """A file that is no database is refused, within the time of one call."""
    path = tmp_path / "k.db"
    path.write_bytes(b"no database at all" * 1_000)
    knowledge = MilvusKnowledge(MilvusSettings(str(path), timeout_seconds=5))
    with pytest.raises(BackendError, match=r"milvus.uri"):
        await asyncio.wait_for(knowledge.prepare(model=MODEL, dimension=DIMENSION), 15)
    await knowledge.aclose()


def test_importing_is_light() -> None:
    """Importing the adapter imports no driver."""
    code = (
        "import sys, evidence_lookup.adapters.milvus; "
        "print([n for n in ('pymilvus', 'pandas', 'grpc', 'milvus_lite') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _child_of(path: Path) -> int:
    """The process id of the server on *path*."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                arguments = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if str(path).encode() in arguments and arguments[0].endswith(b"/milvus"):
                return int(entry.name)
    raise LookupError(path)
