"""Adapters on servers give the same evidence as the memory for the same chunks."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from tests.congruence_corpus import EMBEDDER, handbook_chunks, handbook_requests, opening
from tests.servers import Server

from evidence_lookup.adapters.elasticsearch import ElasticsearchKnowledge, ElasticsearchSettings
from evidence_lookup.adapters.memory.knowledge import MemoryKnowledge
from evidence_lookup.adapters.milvus import MilvusKnowledge, MilvusSettings
from evidence_lookup.adapters.vector_store import VectorStoreKnowledge, VectorStoreSettings
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.testing.congruence import CongruentPath, check_congruence
from evidence_lookup.testing.knowledge_contract import Knowledge
from evidence_lookup.testing.paired_knowledge import PairedKnowledge

Record = Callable[[str, object], None]


async def _check(paths: dict[str, CongruentPath], record: Record) -> None:
    every = {"memory": CongruentPath(opening(MemoryKnowledge), terms="bigrams"), **paths}
    chunks, requests = await handbook_chunks(), await handbook_requests()
    figures = await check_congruence(every, chunks, requests, model=EMBEDDER.model)
    for (name, mode), agreement in figures.items():
        record(f"{name} {mode}", round(agreement.overlap, 3))
        print(f"{name} {mode}: overlap {agreement.overlap:.3f}")
    for name in paths:
        assert figures[name, SearchMode.DENSE].overlap >= 0.95


@pytest.mark.parametrize("metric", ["COSINE", "L2", "IP"])
async def test_milvus(milvus_server: Server, metric: str, record_property: Record) -> None:
    """A Milvus server and a VectorStore over it, by a graph index, give the memory's evidence."""

    def at() -> MilvusSettings:
        return MilvusSettings(
            milvus_server.url, collection=f"t{uuid4().hex}", metric=metric, timeout_seconds=60
        )

    def vector_store() -> Knowledge:
        settings = at()
        search = VectorStoreKnowledge(VectorStoreSettings(), milvus=settings, embedder=EMBEDDER)
        return PairedKnowledge(search, MilvusKnowledge(settings), close=search.aclose)

    paths = {
        "milvus server": CongruentPath(
            opening(lambda: MilvusKnowledge(at())), is_exact=False, terms="jieba"
        ),
        "vector store": CongruentPath(opening(vector_store), is_exact=False, terms="jieba"),
    }
    await _check(paths, record_property)


async def test_elasticsearch(elasticsearch_server: Server, record_property: Record) -> None:
    """Elasticsearch, by a graph index and the memory's terms, gives the memory's evidence."""

    def at() -> ElasticsearchSettings:
        return ElasticsearchSettings(
            elasticsearch_server.url, index=f"t{uuid4().hex}", timeout_seconds=60
        )

    paths = {
        "elasticsearch": CongruentPath(
            opening(lambda: ElasticsearchKnowledge(at())), is_exact=False, terms="bigrams"
        )
    }
    await _check(paths, record_property)
