"""What the host has set in its context reaches every path of a lookup, in threads too."""

import threading
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from dependency_injector import providers
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore

from evidence_lookup import Settings, open_knowledge_base, open_knowledge_base_sync
from evidence_lookup.adapters.memory.knowledge import MemoryKnowledge
from evidence_lookup.container import Container
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest, KnowledgeSearchResponse
from evidence_lookup.settings import EmbedderSettings, SidecarSettings

SPAN: ContextVar[str] = ContextVar("SPAN", default="none")
PATHS = ("memory", "vectorstore")
Children = list[tuple[str, str, int]]


class NotedStore(InMemoryVectorStore):
    """Notes the span that it is searched under, and the thread."""

    def __init__(self, children: Children) -> None:
        super().__init__(DeterministicFakeEmbedding(size=64))
        self._children = children

    def similarity_search_with_score_by_vector(self, *args: Any, **kwargs: Any) -> Any:
        """As the base class does."""
        self._children.append(("vectorstore", SPAN.get(), threading.get_ident()))
        return super().similarity_search_with_score_by_vector(*args, **kwargs)


class NotedKnowledge(MemoryKnowledge):
    """Notes the span that it is searched under, and the thread."""

    def __init__(self, children: Children) -> None:
        super().__init__()
        self._children = children

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """As the base class does."""
        self._children.append(("memory", SPAN.get(), threading.get_ident()))
        return await super().search(request)


def container(folder: Path, children: Children) -> Container:
    """Lookups search in memory, and beside it a VectorStore, which runs in threads."""
    settings = Settings(
        data_dir=folder,
        store="memory",
        embedder=EmbedderSettings(kind="memory"),
        sidecar=SidecarSettings(enabled=True, deadline_seconds=30.0),
    )
    made = Container(settings=settings)
    parts: Any = made
    parts.memory.override(providers.Object(NotedKnowledge(children)))
    parts.langchain_store.override(providers.Object(NotedStore(children)))
    return made


def document(folder: Path) -> Path:
    """Something to find."""
    file = folder / "kettle.md"
    file.write_text("# Kettle\n\nWhere the kettle is kept.\n", encoding="utf-8")
    return file


async def test_C72_one_span_has_the_searches_of_both_paths_as_its_children(tmp_path: Path) -> None:
    """Two paths, one of them in a thread, are searched under the span that the host has open."""
    children: Children = []
    async with open_knowledge_base(container=container(tmp_path, children)) as base:
        await base.ingest(document(tmp_path))
        SPAN.set("parent")
        await base.lookup("where is the kettle")
    assert {(path, span) for path, span, _ in children} == {(path, "parent") for path in PATHS}
    threads = {name: {one for path, _, one in children if path == name} for name in PATHS}
    assert not threads["memory"] & threads["vectorstore"]


def test_C72_the_span_of_a_synchronous_host_reaches_the_background_loop(tmp_path: Path) -> None:
    """Each thread of the host has its own span, and each lookup stays under its own."""
    children: Children = []
    with open_knowledge_base_sync(container=container(tmp_path, children)) as base:
        base.ingest(document(tmp_path))

        def ask(span: str) -> None:
            SPAN.set(span)
            base.lookup("where is the kettle")

        threads = [threading.Thread(target=ask, args=(f"span {n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for path in PATHS:
        assert {span for name, span, _ in children if name == path} == {
            f"span {n}" for n in range(4)
        }
