"""With `auto`, no lookup fails while the first path dies, freezes, is cut off or restarts (R29)."""

import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from attrs import evolve, frozen
from dependency_injector import providers
from tests.servers import Server

from evidence_lookup import (
    KnowledgeBase,
    Settings,
    open_knowledge_base,
    open_knowledge_base_sync,
)
from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.milvus import MilvusSettings
from evidence_lookup.adapters.vector_store import VectorStoreKnowledge, VectorStoreSettings
from evidence_lookup.container import Container
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.trace import Attempt
from evidence_lookup.settings import EmbedderSettings, RagSettings

FIRST_SECONDS = 2.0
BREAKER_SECONDS = 2.0
# Half of the lookup's deadline: a busy machine needs room, and two waits would not fit.
MOST_SECONDS = 10.0
LOOKUPS, AT_ONCE, BEFORE_THE_FAULT = 200, 16, 40
WORDS = ["kettle", "ladder", "magnet", "needle", "oyster", "pillow", "quiver", "ribbon"]
Fault = Callable[[Server], AbstractContextManager[None]]
FAULTS: dict[str, Fault] = {
    "killed": Server.down,
    "paused": Server.paused,
    "disconnected": Server.disconnected,
}


@pytest.fixture(scope="module")
def folders(milvus_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of the embedded index; the server holds the same documents."""
    folder = tmp_path_factory.mktemp("auto")
    for word in WORDS:
        file = folder / "docs" / f"{word}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"# About the {word}\n\nWhere the {word} is kept.\n", encoding="utf-8")
    for name, uri in (("embedded", ""), ("server", milvus_server.url)):
        with open_knowledge_base_sync(_settings(folder / name, uri)) as base:
            report = base.ingest(folder / "docs", rebuild=True)
            assert len(report.added) == len(WORDS)
    return folder


def _settings(folder: Path, uri: str) -> Settings:
    return Settings(
        data_dir=folder,
        rag=RagSettings(deadline_seconds=20.0, reference_threshold=0.02, evidence_floor=0.01),
        milvus=MilvusSettings(uri, collection="auto_faults", timeout_seconds=30.0),
        embedder=EmbedderSettings(kind="memory"),
        vector_store=VectorStoreSettings(
            mode="auto" if not uri else "sdk",
            timeout_seconds=FIRST_SECONDS,
            breaker_seconds=BREAKER_SECONDS,
        ),
    )


@asynccontextmanager
async def opened(folders: Path, server: Server) -> AsyncGenerator[KnowledgeBase]:
    """langchain-milvus on the server first, the embedded Milvus behind it; both known to serve."""
    settings = _settings(folders / "embedded", "")
    first = VectorStoreKnowledge(
        settings.vector_store,
        milvus=evolve(settings.milvus, uri=server.url, timeout_seconds=FIRST_SECONDS),
        embedder=MemoryEmbedder(),
    )
    container = Container(settings=settings)
    container.vector_store.override(providers.Object(first))  # pyright: ignore[reportUnknownMemberType]
    try:
        async with open_knowledge_base(container=container) as base:
            await first_path_serves(base)
            yield base
    finally:
        await first.aclose()


async def first_path_serves(base: KnowledgeBase) -> None:
    """Wait until a lookup is served by the first path, at most 90 seconds."""
    for _ in range(450):
        if _attempt(await base.lookup(WORDS[0])).path == "vectorstore":
            return
        await anyio.sleep(0.2)
    pytest.fail("the first path did not come back")


@frozen
class Answered:
    """One lookup of a burst: when it began, how long it took, and what came of it."""

    began: float
    seconds: float
    word: str
    result: LookupResult


async def burst(
    base: KnowledgeBase, after_some: Callable[[], object], *, pause: float = 0.0
) -> list[Answered]:
    """200 lookups, 16 at a time; *after_some* is called in a thread after the first 40."""
    answers: list[Answered] = []
    some = anyio.Event()
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def one(word: str) -> None:
        async with limiter:
            began = time.monotonic()
            result = await base.lookup(word, raise_unavailable=False)
            answers.append(Answered(began, time.monotonic() - began, word, result))
            if len(answers) == BEFORE_THE_FAULT:
                some.set()
            await anyio.sleep(pause)

    async def strike() -> None:
        await some.wait()
        await anyio.to_thread.run_sync(after_some)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(strike)
        for number in range(LOOKUPS):
            tasks.start_soon(one, WORDS[number % len(WORDS)])
    return answers


def _attempt(result: LookupResult) -> Attempt:
    return result.retrieval_trace.attempts[-1]


def check_all_are_right(answers: list[Answered]) -> None:
    """Every lookup has the document that the word is in, from whichever path."""
    assert len(answers) == LOOKUPS
    statuses = Counter(str(one.result.evidence_status) for one in answers)
    assert statuses == {"found": LOOKUPS}
    wrong = [one for one in answers if one.result.evidence_blocks[0].doc_id != f"{one.word}.md"]
    assert not wrong


def check_the_breaker_spared_them(answers: list[Answered]) -> None:
    """Only what was in flight at a failure waited for it, and nobody longer than the first try."""
    failed = [
        one
        for one in answers
        for tried in _attempt(one.result).tries
        if tried.error and tried.breaker == "closed"
    ]
    assert len(failed) <= AT_ONCE
    assert max(one.seconds for one in answers) < MOST_SECONDS
    if failed:
        opened_at = min(one.began + one.seconds for one in failed)
        later = [one for one in answers if one.began > opened_at]
        assert not [one for one in later if one in failed]


@pytest.mark.parametrize("name", FAULTS)
async def test_a_burst_through_a_fault(name: str, folders: Path, milvus_server: Server) -> None:
    """Of 200 lookups through a fault none fails, and the first path serves again after it."""
    fault = FAULTS[name](milvus_server)
    async with opened(folders, milvus_server) as base:
        try:
            answers = await burst(base, fault.__enter__)
        finally:
            await anyio.to_thread.run_sync(fault.__exit__, None, None, None)
        check_all_are_right(answers)
        check_the_breaker_spared_them(answers)
        paths = Counter(_attempt(one.result).path for one in answers)
        assert set(paths) == {"vectorstore", "milvus"}
        reasons = {
            tried.error.kind
            for one in answers
            for tried in _attempt(one.result).tries
            if tried.error
        }
        assert reasons <= {"connection", "timeout", "failed"}
        await first_path_serves(base)


async def test_a_burst_through_a_restart(folders: Path, milvus_server: Server) -> None:
    """A first path that is killed and started again under load fails no lookup."""

    def restart() -> None:
        with milvus_server.down():
            pass

    async with opened(folders, milvus_server) as base:
        answers = await burst(base, restart, pause=0.2)
        check_all_are_right(answers)
        assert max(one.seconds for one in answers) < MOST_SECONDS


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("killed", {"connection"}), ("paused", {"timeout"}), ("disconnected", {"connection"})],
)
async def test_a_lookup_in_a_fault(
    name: str, kinds: set[str], folders: Path, milvus_server: Server
) -> None:
    """The lookup that meets the fault is served by the second path, and the trace says why."""
    async with opened(folders, milvus_server) as base:
        fault = FAULTS[name](milvus_server)
        await anyio.to_thread.run_sync(fault.__enter__)
        try:
            result = await base.lookup(WORDS[2])
        finally:
            await anyio.to_thread.run_sync(fault.__exit__, None, None, None)
        tried, served = _attempt(result).tries
        assert (tried.path, served.path, served.error) == ("vectorstore", "milvus", None)
        assert tried.error is not None
        assert tried.error.kind in kinds
        assert result.evidence_blocks[0].doc_id == f"{WORDS[2]}.md"
