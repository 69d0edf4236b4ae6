"""What the README says is so."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from evidence_lookup import KnowledgeBase, Settings, open_knowledge_base
from evidence_lookup.adapters.memory.knowledge import MemoryKnowledge
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
)
from evidence_lookup.settings_loading import flatten

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
TABLE = README.split("<!-- settings -->")[1]
ROWS = [line.split("|")[1:3] for line in TABLE.splitlines() if line.startswith("| `")]


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Examples run in the checkout, with a data folder of their own."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("EVIDENCE_LOOKUP_DATA_DIR", str(tmp_path))


async def test_the_host_example_runs() -> None:
    """The ten lines ingest the handbook and answer with evidence from it."""
    names: dict[str, Any] = {}
    exec(EXAMPLES[0], names)
    answer: Callable[[str], Awaitable[str]] = names["answer"]
    text = await answer("how far may I enlarge the connection pool at peak traffic?")
    assert "databases/postgres-pgbouncer-exhaustion.md#chunk-" in text
    assert "from 40 to at most 60" in text


async def test_the_tool_example_gives_a_tool_of_one_argument(tmp_path: Path) -> None:
    """`knowledge_tool` binds the scope; the tool takes the query alone and gives a plain dict."""
    settings = Settings(store="memory", data_dir=tmp_path)
    async with open_knowledge_base(settings) as knowledge:
        names: dict[str, Any] = {"knowledge": knowledge}
        exec(EXAMPLES[1], names)
        tool = names["lookup_knowledge"]
        assert tool.__name__ == "lookup_knowledge"
        answer = await tool("anything")
        assert (answer["found"], answer["evidence_status"]) == (False, "unavailable")


async def test_the_guard_example_tells_a_reference_that_was_returned(tmp_path: Path) -> None:
    """The answer's reference is unknown where nothing was returned, and valid where it was."""
    (tmp_path / "databases").mkdir()
    pool = "## Growing\n\nThe pool may grow to 80.\n"
    (tmp_path / "databases" / "pool.md").write_text(f"# Pool\n\n{'Wait. ' * 300}\n\n{pool}")
    settings = Settings(store="memory", data_dir=tmp_path / "data")
    async with open_knowledge_base(settings) as knowledge:
        await knowledge.ingest(tmp_path)
        results = [await knowledge.lookup("how far may the pool grow?")]
    for given, expected in (([], False), (results, True)):
        names: dict[str, Any] = {"results": given}
        exec(EXAMPLES[2], names)
        assert names["report"].ok is expected


async def test_the_override_example_puts_a_part_of_ones_own_in_place() -> None:
    """One provider is overridden; the lookup goes through the host's own search port."""
    searched: list[str] = []

    class MySearch(MemoryKnowledge):
        async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
            searched.append(request.query)
            return await super().search(request)

    mine = MySearch()
    await mine.prepare(model="multilingual-e5-small-q4@1571fc98+centred-1", dimension=384)
    body = EXAMPLES[3].replace("MySearch()", "mine").replace("    ...", "    await use(knowledge)")
    lines = [f"    {line}" for line in body.splitlines()]
    names: dict[str, Any] = {}
    exec("\n".join(["async def example(mine, use):", *lines]), names)

    async def use(knowledge: KnowledgeBase) -> None:
        assert (await knowledge.lookup("kettle")).evidence_status == "no_evidence"

    await names["example"](mine, use)
    assert searched == ["kettle"]


def test_every_setting_is_in_the_table_with_its_default() -> None:
    """The table names each setting once, and where it states one default it is the real one."""
    flat = flatten(Settings())
    named = [re.findall(r"`([^`]+)`", keys) for keys, _ in ROWS]
    assert sorted(key for keys in named for key in keys) == sorted(flat)
    for keys, (_, stated) in zip(named, ROWS, strict=True):
        defaults = [text.strip().strip("`") for text in stated.strip().split(",")]
        if len(keys) == len(defaults) and defaults[0] and " " not in "".join(defaults):
            for key, default in zip(keys, defaults, strict=True):
                value = flat[key]
                if value not in ("", None, ()):
                    assert str(value).lower() == default.lower(), key
