"""Ingest and lookup together, on the memory adapters: what goes in is found and cited."""

from itertools import count
from pathlib import Path

from attrs import evolve
from tests.unit.application.bench import RULES

from evidence_lookup.adapters.aho_corasick import build_hint_matcher
from evidence_lookup.adapters.documents import FormatReader
from evidence_lookup.adapters.filesystem import FilesystemSource
from evidence_lookup.adapters.markdown_chunker import MarkdownChunker
from evidence_lookup.adapters.memory.catalogue import MemoryCatalogue
from evidence_lookup.adapters.memory.clock import ManualClock
from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.memory.knowledge import MemoryKnowledge
from evidence_lookup.adapters.memory.traces import MemoryTraces
from evidence_lookup.application.document_building import DocumentDefaults
from evidence_lookup.application.hint_index import HintIndex
from evidence_lookup.application.ingest import Ingest
from evidence_lookup.application.lookup import Lookup
from evidence_lookup.application.readiness import Readiness
from evidence_lookup.application.recording import Recording
from evidence_lookup.application.retrieval import Retriever
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.sidecar import NO_SIDECAR
from evidence_lookup.domain.text import estimate_tokens

HANDBOOK = Path(__file__).parents[2] / "data" / "handbook"


class House:
    """Both use cases on one index."""

    def __init__(self) -> None:
        self.traces = MemoryTraces()
        embedder, knowledge, catalogue = MemoryEmbedder(), MemoryKnowledge(), MemoryCatalogue()
        clock, ids = ManualClock(), count(1)
        self.ingest = Ingest(
            source=FilesystemSource(),
            reader=FormatReader(),
            chunker=MarkdownChunker(embedder.count_tokens, 200),
            embedder=embedder,
            store=knowledge,
            catalogue=catalogue,
            clock=clock,
            max_file_bytes=1_000_000,
        )
        self.lookup = Lookup(
            hint_index=HintIndex(catalogue, build_hint_matcher),
            retriever=Retriever(knowledge, embedder, Readiness(knowledge, embedder)),
            count_tokens=estimate_tokens,
            recording=Recording(self.traces),
            clock=clock,
            new_id=lambda: f"00000000-0000-7000-8000-{next(ids):012d}",
            rules=evolve(RULES, thresholds=evolve(RULES.thresholds, reference=0.3)),
        )


async def test_the_handbook_answers_with_its_own_words() -> None:
    """A block's content is the file's text between its offsets, and its record can be read."""
    house = House()
    report = await house.ingest.ingest(HANDBOOK)
    assert len(report.added) == 22
    result, error = await house.lookup.lookup("Redis Sentinel failover: who is the new master?")
    assert (error, result.found) == (None, True)
    first = result.evidence_blocks[0]
    assert first.source == "databases/redis-sentinel-failover.md"
    text = (HANDBOOK / str(first.source)).read_bytes().decode()
    assert text[first.start : first.end] == first.content
    trace = result.retrieval_trace
    assert trace.candidate_count == trace.block_count + len(trace.drops)
    record = await house.traces.get(result.invocation_id)
    assert record is not None
    assert record.retrieval_details.retrieval_trace == evolve(trace, sidecar=NO_SIDECAR)


async def test_before_the_first_ingest_the_collection_is_missing_and_then_it_is_there() -> None:
    """C67: unavailable with its kind, until something is ingested; no restart is needed."""
    house = House()
    result, _ = await house.lookup.lookup("redis")
    assert (result.evidence_status, result.retrieval_trace.reason) == (
        "unavailable",
        "collection_missing",
    )
    await house.ingest.ingest(HANDBOOK)
    result, _ = await house.lookup.lookup("redis sentinel failover")
    assert result.evidence_status == "found"


async def test_R26_no_lookup_leaves_its_tenant() -> None:
    """Each tenant finds its own documents only, whatever the hints know; an unknown one nothing."""
    house = House()
    folders = {"acme": HANDBOOK / "databases", "other": HANDBOOK / "network"}
    for tenant, folder in folders.items():
        await house.ingest.ingest(folder, defaults=DocumentDefaults(scope={"tenant": tenant}))
    for query in ("redis sentinel failover", "vpn tunnel flap", "dns resolution failures"):
        for tenant, folder in folders.items():
            result, _ = await house.lookup.lookup(query, scope=Scope({"tenant": tenant}))
            assert all((folder / str(one.source)).exists() for one in result.evidence_blocks)
        result, _ = await house.lookup.lookup(query, scope=Scope({"tenant": "nobody"}))
        assert (result.evidence_status, result.evidence_blocks) == ("no_evidence", ())
    result, _ = await house.lookup.lookup("vpn tunnel flap", scope=Scope({"tenant": "other"}))
    assert result.found
