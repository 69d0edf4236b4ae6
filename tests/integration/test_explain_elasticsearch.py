"""Explanations on a real Elasticsearch, whose nearest neighbours are approximate (R58)."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from attrs import evolve
from elasticsearch import AsyncElasticsearch
from tests.servers import Server

from evidence_lookup import Settings, open_knowledge_base
from evidence_lookup.adapters.elasticsearch import ElasticsearchSettings
from evidence_lookup.domain.explanation import Stage
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.settings import EmbedderSettings, RagSettings

HANDBOOK = Path(__file__).parents[1] / "data" / "handbook"
QUERY = "redis sentinel failover"


@pytest.fixture
async def settings(elasticsearch_server: Server, tmp_path: Path) -> AsyncIterator[Settings]:
    """Settings of an index of the handbook, of which every chunk is asked for."""
    index = f"t{uuid4().hex}"
    settings = Settings(
        store="elasticsearch",
        elasticsearch=ElasticsearchSettings(
            elasticsearch_server.url, index=index, timeout_seconds=60
        ),
        embedder=EmbedderSettings(kind="memory"),
        rag=RagSettings(retrieve_k=200, mode=SearchMode.DENSE, deadline_seconds=120),
        data_dir=tmp_path,
    )
    async with open_knowledge_base(settings) as base:
        await base.ingest(HANDBOOK)
    yield settings
    async with AsyncElasticsearch(elasticsearch_server.url, request_timeout=60) as client:
        await client.indices.delete(index=index, ignore_unavailable=True)


async def test_R58_ranks_and_stages_are_true_on_elasticsearch(settings: Settings) -> None:
    """With few hits fetched, rank and similarity are those of the whole list; scope stays."""
    async with open_knowledge_base(settings) as base:
        whole = await base.lookup(QUERY)
    drops = sorted(whole.retrieval_trace.drops, key=lambda one: one.rank)
    few = evolve(settings, rag=evolve(settings.rag, retrieve_k=5))
    async with open_knowledge_base(few) as base:
        for drop in (drops[20], drops[-1]):
            told = await base.explain(QUERY, drop.evidence_key)
            assert (told.stage, told.rank) == (Stage.NOT_RETRIEVED, drop.rank)
            assert told.similarity == pytest.approx(drop.similarity, abs=1e-4)
        both = await base.explain(QUERY, drops[-1].evidence_key, mode=SearchMode.HYBRID)
        dense = next(one for one in both.standings if one.mode is SearchMode.DENSE)
        assert dense.rank == drops[-1].rank
        unknown = await base.explain(QUERY, "nowhere.md#chunk-0")
        assert unknown.stage is Stage.NOT_INDEXED
        key = whole.evidence_blocks[0].evidence_key
        scoped = await base.explain(QUERY, key, scope={"tenant": "acme"})
        assert (scoped.stage, scoped.excluded_by) == (Stage.FILTERED, ("tenant",))
