"""The handbook as chunks with vectors, and questions about it, for comparing adapters."""

import json
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from attrs import evolve

from evidence_lookup.adapters.documents import FormatReader
from evidence_lookup.adapters.markdown_chunker import MarkdownChunker
from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.application.document_building import DocumentDefaults, build_document
from evidence_lookup.domain.document import Chunk
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.ports.document_source import SourceFile
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest
from evidence_lookup.ports.knowledge_store import EmbeddedChunk
from evidence_lookup.testing.knowledge_contract import Knowledge

_DATA = Path(__file__).parent / "data"
EMBEDDER = MemoryEmbedder(dimension=128)
_TOP_K = 10
_SHORT = ("redis", "certificate expired", "数据库连接池", "事故复盘")


async def handbook_chunks() -> list[EmbeddedChunk]:
    """About 150 chunks, English and Chinese, of two tenants."""
    chunks = list(_chunks())
    vectors = await EMBEDDER.embed_passages([chunk.passage for chunk in chunks])
    return [EmbeddedChunk(chunk, vector) for chunk, vector in zip(chunks, vectors, strict=True)]


async def handbook_requests() -> list[KnowledgeSearchRequest]:
    """Each of 30 questions by vectors, over all chunks and one tenant's; half of them by words."""
    golden = json.loads((_DATA / "golden_questions.json").read_text("utf-8"))
    questions = [one["question"] for one in (*golden["answerable"], *golden["unanswerable"])]
    requests: list[KnowledgeSearchRequest] = []
    for number, question in enumerate((*questions, *_SHORT)):
        vector = await EMBEDDER.embed_query(question)
        whole = KnowledgeSearchRequest(question, vector, top_k=_TOP_K)
        scoped = evolve(whole, scope=Scope({"tenant": "odd"}))
        hybrid = evolve(scoped, mode=SearchMode.HYBRID)
        keyword = evolve(whole, mode=SearchMode.KEYWORD, top_k=1_000)
        requests += [whole, scoped]
        requests += [hybrid, keyword] if number % 2 else []
    return requests


def opening(make: Callable[[], Knowledge]) -> Callable[[], AbstractAsyncContextManager[Knowledge]]:
    """Opens what *make* makes, and removes its collection in the end."""

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Knowledge, None]:
        knowledge = make()
        yield knowledge
        await knowledge.drop()
        await knowledge.aclose()

    return opened


def _chunks() -> Iterator[Chunk]:
    chunker = MarkdownChunker(EMBEDDER.count_tokens, max_tokens=110)
    root = _DATA / "handbook"
    for number, path in enumerate(sorted(one for one in root.rglob("*") if one.is_file())):
        source = path.relative_to(root).as_posix()
        document = FormatReader().read(path.read_bytes(), source=source)
        _, chunks = build_document(
            SourceFile(root, source),
            document,
            chunker.chunk(document),
            DocumentDefaults(scope={"tenant": "odd" if number % 2 else "even"}),
            content_hash="-",
            recipe="-",
        )
        yield from chunks
