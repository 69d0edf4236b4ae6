"""With `sdk` alone a lost server is `unavailable` in time, never `no_evidence`, and comes back."""

import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread
import pytest
from attrs import frozen
from tests.servers import Server

from evidence_lookup import KnowledgeBase, Settings, open_knowledge_base, open_knowledge_base_sync
from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings
from evidence_lookup.adapters.milvus import MilvusSettings
from evidence_lookup.settings import EmbedderSettings, RagSettings

Store = Literal["milvus", "elasticsearch"]
STORES: tuple[Store, ...] = ("milvus", "elasticsearch")
FAULTS: dict[str, Callable[[Server], AbstractContextManager[None]]] = {
    "killed": Server.down,
    "paused": Server.paused,
    "disconnected": Server.disconnected,
}
CALL_SECONDS, DEADLINE_SECONDS = 2.0, 4.0
LATE = 2.0
"""Seconds beyond the deadline that a busy machine may cost."""
FAULT_SECONDS, RECOVERY_SECONDS = 5.0, 30.0
LOOKUPS, AT_ONCE, BEFORE_THE_FAULT, PAUSE_SECONDS = 200, 16, 40, 0.5
WORDS = ["kettle", "ladder", "magnet", "needle", "oyster", "pillow", "quiver", "ribbon"]


@frozen
class Answered:
    """What came of one lookup; times are monotonic seconds."""

    began: float
    ended: float
    status: str
    is_right: bool

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.ended - self.began


@pytest.fixture(scope="module", params=STORES)
def store(request: pytest.FixtureRequest) -> Store:
    """Where the knowledge is kept."""
    chosen: Store = request.param
    return chosen


@pytest.fixture(scope="module")
def server(store: Store, request: pytest.FixtureRequest) -> Server:
    """The server of the store."""
    started: Server = request.getfixturevalue(f"{store}_server")
    return started


@pytest.fixture(scope="module")
def folder(store: Store, server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a knowledge base with one document for each word."""
    folder = tmp_path_factory.mktemp("faults")
    documents = folder / "documents"
    documents.mkdir()
    for word in WORDS:
        text = f"# About the {word}\n\nWhere the {word} is kept.\n"
        (documents / f"{word}.md").write_text(text, encoding="utf-8")
    settings = _settings(store, server.url, folder, call_seconds=60.0)
    with open_knowledge_base_sync(settings) as base:
        assert len(base.ingest(documents, rebuild=True).added) == len(WORDS)
    return folder


@pytest.fixture
async def base(store: Store, server: Server, folder: Path) -> AsyncIterator[KnowledgeBase]:
    """The knowledge base as a host has it open; it serves."""
    settings = _settings(store, server.url, folder, call_seconds=CALL_SECONDS)
    async with open_knowledge_base(settings) as opened:
        await _until_found(opened)
        yield opened


def _settings(store: Store, url: str, folder: Path, *, call_seconds: float) -> Settings:
    return Settings(
        data_dir=folder,
        store=store,
        milvus=MilvusSettings(url, collection="server_faults", timeout_seconds=call_seconds),
        elasticsearch=ElasticsearchSettings(
            url, index="server_faults", timeout_seconds=call_seconds
        ),
        embedder=EmbedderSettings(kind="memory"),
        rag=RagSettings(
            deadline_seconds=DEADLINE_SECONDS, reference_threshold=0.02, evidence_floor=0.01
        ),
    )


async def _ask(base: KnowledgeBase, word: str) -> Answered:
    began = time.monotonic()
    result = await base.lookup(word, raise_unavailable=False)
    ended = time.monotonic()
    status = str(result.evidence_status)
    is_right = status != "found" or result.evidence_blocks[0].doc_id == f"{word}.md"
    return Answered(began, ended, status, is_right)


async def _until_found(base: KnowledgeBase) -> list[Answered]:
    """Lookups one after another up to the first that finds; fails after `RECOVERY_SECONDS`."""
    answers: list[Answered] = []
    with anyio.fail_after(RECOVERY_SECONDS):
        while True:
            answers.append(await _ask(base, WORDS[0]))
            if answers[-1].status == "found":
                return answers
            await anyio.sleep(0.1)


async def _burst(base: KnowledgeBase, *, after_some: Callable[[], object]) -> list[Answered]:
    """200 lookups, 16 at a time; *after_some* is called in a thread after the first 40."""
    answers: list[Answered] = []
    limiter = anyio.CapacityLimiter(AT_ONCE)
    some = anyio.Event()

    async def one(word: str) -> None:
        async with limiter:
            answers.append(await _ask(base, word))
            if len(answers) == BEFORE_THE_FAULT:
                some.set()
            await anyio.sleep(PAUSE_SECONDS)

    async def strike() -> None:
        await some.wait()
        await anyio.to_thread.run_sync(after_some)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(strike)
        for n in range(LOOKUPS):
            tasks.start_soon(one, WORDS[n % len(WORDS)])
    return answers


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_burst_through_a_fault(fault: str, base: KnowledgeBase, server: Server) -> None:
    """Of 200 lookups those in the fault are `unavailable`, the others found; then all is well."""
    lost: list[float] = []

    def strike() -> None:
        lost.append(time.monotonic())
        with FAULTS[fault](server):
            lost.append(time.monotonic())
            time.sleep(FAULT_SECONDS)
            lost.append(time.monotonic())

    answers = await _burst(base, after_some=strike)
    after = await _until_found(base)

    counts = Counter(one.status for one in answers)
    during = {one.status for one in answers if one.began > lost[1] and one.ended < lost[2]}
    before = {one.status for one in answers if one.ended < lost[0]}
    assert during == {"unavailable"}
    assert before == {"found"}
    assert set(counts) == {"found", "unavailable"}
    assert all(one.is_right for one in answers)
    assert max(one.seconds for one in [*answers, *after]) < DEADLINE_SECONDS + LATE
    # One that was killed answers before it has loaded what it held.
    assert {one.status for one in after[:-1]} <= ({"unavailable"} if fault == "killed" else set())
