"""The front door, on the memory adapters."""

import inspect
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import pytest
from attrs import evolve
from dependency_injector import providers

from evidence_lookup import (
    KnowledgeBase,
    Settings,
    SyncKnowledgeBase,
    open_knowledge_base,
    open_knowledge_base_sync,
)
from evidence_lookup.adapters.vector_store.settings import VectorStoreSettings
from evidence_lookup.container import Container
from evidence_lookup.domain.errors import CallerError, ScopeError, UnsupportedModeError
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.domain.trace_filter import TraceFilter
from evidence_lookup.settings import EmbedderSettings, SidecarSettings, TraceSettings

SETTINGS = Settings(
    store="memory",
    embedder=EmbedderSettings(kind="memory"),
    trace=TraceSettings(enabled=False),
)


@pytest.fixture(autouse=True)
def in_an_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    """The relative data folder of the settings is below a folder of the test's own."""
    monkeypatch.chdir(str(tmp_path))


def test_the_synchronous_twin_has_everything_that_the_knowledge_base_has() -> None:
    """Each public method and attribute is there under the same name."""
    public = {name for name in dir(KnowledgeBase) if not name.startswith("_")}
    assert public <= set(dir(SyncKnowledgeBase))


def test_R43_the_synchronous_tool_is_a_plain_function_of_one_argument() -> None:
    """It has the tool's name and description, and answers without an event loop."""
    with open_knowledge_base_sync(SETTINGS) as knowledge:
        tool = knowledge.knowledge_tool(scope={"tenant": "acme"})
        assert tool.__name__ == "lookup_knowledge"
        assert not inspect.iscoroutinefunction(tool)
        assert list(inspect.signature(tool).parameters) == ["query"]
        assert tool("anything")["evidence_status"] == "unavailable"


async def test_a_malformed_scope_is_refused_when_it_is_bound() -> None:
    """The host hears of it, and not the agent with each question."""
    async with open_knowledge_base(SETTINGS) as knowledge:
        with pytest.raises(ScopeError):
            knowledge.knowledge_tool(scope={"not a name": "x"})


async def test_an_unknown_mode_is_an_error_of_the_tree() -> None:
    """The message says which modes there are."""
    async with open_knowledge_base(SETTINGS) as knowledge:
        with pytest.raises(UnsupportedModeError, match="dense, keyword, hybrid"):
            await knowledge.lookup("x", mode="sparse")


async def test_one_text_is_no_list_of_queries() -> None:
    """A text in place of a list would be asked letter by letter."""
    async with open_knowledge_base(SETTINGS) as knowledge:
        with pytest.raises(CallerError, match="list"):
            await knowledge.lookup_many("redis")
        with pytest.raises(CallerError, match="list"):
            await knowledge.compare("redis")


async def test_doctor_asks_the_sidecar() -> None:
    """A sidecar that is on is a part of the set-up, with what is wrong with it."""
    beside = evolve(
        SETTINGS, trace=TraceSettings(), sidecar=SidecarSettings(enabled=True, path="milvus")
    )
    async with open_knowledge_base(beside) as knowledge:
        (check,) = [one for one in await knowledge.diagnose() if one.name == "sidecar"]
    assert not check.ok
    assert "collection_missing" in check.detail


async def test_a_sidecar_without_records_does_not_run() -> None:
    """What comes of a sidecar goes to the record; where none is kept it would be for nothing."""
    beside = evolve(SETTINGS, sidecar=SidecarSettings(enabled=True, path="milvus"))
    assert not beside.trace.enabled
    async with open_knowledge_base(beside) as knowledge:
        assert "sidecar" not in [one.name for one in await knowledge.diagnose()]


@pytest.mark.parametrize(
    ("mode", "path"), [("sdk", "memory"), ("vectorstore", "vectorstore"), ("auto", "vectorstore")]
)
async def test_R27_R28_R29_the_mode_chooses_the_path(
    mode: Literal["sdk", "vectorstore", "auto"], path: str
) -> None:
    """`sdk` goes down the store's own path alone, `vectorstore` and `auto` down the VectorStore."""
    vectors = pytest.importorskip("langchain_core.vectorstores")
    embeddings = pytest.importorskip("langchain_core.embeddings")
    settings = evolve(SETTINGS, vector_store=VectorStoreSettings(mode=mode))
    container = Container(settings=settings)
    parts: Any = container
    store = vectors.InMemoryVectorStore(embeddings.FakeEmbeddings(size=64))
    parts.langchain_store.override(providers.Object(store))
    async with open_knowledge_base(container=container) as knowledge:
        await knowledge.ingest(_document())
        (attempt,) = (await knowledge.lookup("kettle")).retrieval_trace.attempts[-1:]
    assert attempt.path == path
    assert bool(attempt.tries) is (mode == "auto")


def _document() -> Path:
    file = Path("kettle.md")
    file.write_text("# The kettle\n\nIt is in the kitchen.\n", encoding="utf-8")
    return file


async def test_what_would_prune_everything_or_nothing_is_refused() -> None:
    """A host says which records go: from before an aware time, or all but so many."""
    async with open_knowledge_base(SETTINGS) as knowledge:
        with pytest.raises(CallerError, match="say which"):
            await knowledge.prune_traces()
        with pytest.raises(CallerError, match="time zone"):
            await knowledge.prune_traces(before=datetime(2026, 3, 1))
        with pytest.raises(CallerError, match="keep"):
            await knowledge.prune_traces(keep=-1)


@pytest.mark.parametrize("limit", [0, -1])
async def test_a_limit_of_no_record_is_refused(limit: int) -> None:
    """Nothing to look at would read as nothing wrong."""
    async with open_knowledge_base(SETTINGS) as knowledge:
        with pytest.raises(CallerError, match="limit must be at least 1"):
            await knowledge.trace_stats(limit=limit)
        with pytest.raises(CallerError, match="limit must be at least 1"):
            await knowledge.replay(limit=limit)


@pytest.mark.parametrize("name", ["since", "until"])
def test_a_filter_of_records_refuses_a_time_without_a_zone(name: str) -> None:
    """Stores would take it for their own zone's, each for another, or fail on it."""
    conditions: dict[str, Any] = {name: datetime(2026, 1, 1)}
    with pytest.raises(CallerError, match=f"{name} must have a time zone"):
        TraceFilter(**conditions)


async def test_recent_traces_keeps_to_the_session_beside_a_filter() -> None:
    """Both conditions hold: a filter never brings in the records of another session."""
    settings = evolve(SETTINGS, trace=TraceSettings(enabled=True))
    async with open_knowledge_base(settings) as knowledge:
        for session in ("mine", "yours"):
            await knowledge.lookup("", session_id=session)
        everything = TraceFilter(evidence_status=EvidenceStatus.NO_EVIDENCE)
        assert len(await knowledge.recent_traces(where=everything)) == 2
        found = await knowledge.recent_traces(where=everything, session_id="mine")
        assert [one.session_id for one in found] == ["mine"]
