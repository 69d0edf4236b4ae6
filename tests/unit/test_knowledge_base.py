"""The front door, on the memory adapters."""

import inspect

import pytest

from evidence_lookup import (
    KnowledgeBase,
    Settings,
    SyncKnowledgeBase,
    open_knowledge_base,
    open_knowledge_base_sync,
)
from evidence_lookup.domain.errors import ScopeError, UnsupportedModeError
from evidence_lookup.settings import EmbedderSettings, TraceSettings

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
