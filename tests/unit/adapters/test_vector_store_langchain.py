"""The factory of the settings, and the embeddings that it is given."""

import asyncio
import sys
from types import ModuleType
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.milvus import MilvusSettings
from evidence_lookup.adapters.vector_store import VectorStoreKnowledge, VectorStoreSettings
from evidence_lookup.adapters.vector_store.langchain import lookup_embeddings
from evidence_lookup.adapters.vector_store.running_query import running
from evidence_lookup.domain.errors import MissingExtraError, SettingsError
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.testing.knowledge_samples import asked, unit


class CountingEmbedder(MemoryEmbedder):
    """Counts what it embeds."""

    def __init__(self) -> None:
        super().__init__(dimension=4)
        self.queries = 0
        self.closed = 0

    async def embed_query(self, text: str) -> Any:
        """As ever."""
        self.queries += 1
        return await super().embed_query(text)

    async def aclose(self) -> None:
        """Counts that too."""
        self.closed += 1


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A host's module."""
    made = ModuleType("their_stores")
    monkeypatch.setitem(sys.modules, "their_stores", made)
    return made


def knowledge(factory: str, embedder: Embedder | None = None) -> VectorStoreKnowledge:
    """The path over what *factory* makes."""
    return VectorStoreKnowledge(
        VectorStoreSettings(factory=factory),
        milvus=MilvusSettings(),
        embedder=embedder or CountingEmbedder(),
    )


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        ("no_colon", "'no_colon': write module:function"),
        ("a:b:c", "write module:function"),
        (":f", "write module:function"),
        ("os; import sys:f", "write module:function"),
        ("not_there_at_all:make", "'not_there_at_all' cannot be imported"),
        ("their_stores:missing", "'their_stores' has no 'missing'"),
        ("their_stores:number", "their_stores:number is no function"),
        ("their_stores:wrong", "their_stores:wrong returns int, which is no VectorStore"),
    ],
)
async def test_a_bad_factory_is_named(module: ModuleType, factory: str, message: str) -> None:
    """Each fault of `vector-store.factory` says what is wrong, at every call."""

    def wrong(_: Embeddings) -> int:
        return 3

    vars(module).update(number=3, wrong=wrong)
    path = knowledge(factory)
    for call in (path.search(asked()), path.probe()):
        with pytest.raises(SettingsError, match=f"vector-store.factory.*{message}"):
            await call
    await path.aclose()


async def test_a_factory_is_opened_once_and_closed(module: ModuleType) -> None:
    """Searches at once share one store, which is closed with the path and made anew after it."""
    made: list[Any] = []

    class Closable(InMemoryVectorStore):
        is_closed = False

        async def aclose(self) -> None:
            assert not self.is_closed
            self.is_closed = True

    def make(embeddings: Embeddings) -> Closable:
        store = Closable(embeddings)
        store.add_texts(["some text"], ids=["a"])
        made.append(store)
        return store

    vars(module).update(make=make)
    embedder = CountingEmbedder()
    path = knowledge("their_stores:make", embedder)
    responses = await asyncio.gather(*(path.search(asked()) for _ in range(20)))
    assert all([hit.id for hit in one.hits] == ["a"] for one in responses)
    assert len(made) == 1
    await path.aclose()
    await path.aclose()
    assert [store.is_closed for store in made] == [True]
    assert len((await path.search(asked())).hits) == 1
    await path.aclose()
    assert [store.is_closed for store in made] == [True, True]
    assert embedder.queries == 0


async def test_without_langchain_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing library is an error that says what to install."""
    monkeypatch.setitem(sys.modules, "evidence_lookup.adapters.vector_store.embeddings", None)
    with pytest.raises(MissingExtraError, match=r"evidence-lookup\[vectorstore\]"):
        await knowledge("their_stores:make").search(asked())


async def test_a_running_query_is_not_embedded_again() -> None:
    """During a search the embeddings answer with its vector, in threads too; else they embed."""
    embedder = CountingEmbedder()
    embeddings = lookup_embeddings(embedder)
    with running(unit(0, 1)):
        assert await embeddings.aembed_query("any") == [0, 1, 0, 0]
        assert await asyncio.to_thread(embeddings.embed_query, "any") == [0, 1, 0, 0]
    assert embedder.queries == 0
    own = (await MemoryEmbedder(dimension=4).embed_query("redis")).tolist()
    assert await embeddings.aembed_query("redis") == own
    assert await asyncio.to_thread(embeddings.embed_query, "redis") == own
    assert embeddings.embed_query("redis") == own  # in a thread whose loop runs
    assert embedder.queries == 3
    assert embedder.closed == 2


async def test_a_host_writes_with_the_embeddings() -> None:
    """Documents are embedded as passages, in order, with any way of calling."""
    embedder = MemoryEmbedder(dimension=4)
    embeddings = lookup_embeddings(embedder)
    texts = ["redis timeout", "豆腐", ""]
    rows = (await embedder.embed_passages(texts)).tolist()
    assert await embeddings.aembed_documents(texts) == rows
    assert await asyncio.to_thread(embeddings.embed_documents, texts) == rows
    assert embeddings.embed_documents([]) == []
