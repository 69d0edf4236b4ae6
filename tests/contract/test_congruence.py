"""Every adapter that needs no server gives the same evidence for the same chunks."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.congruence_corpus import EMBEDDER, handbook_chunks, handbook_requests, opening

from evidence_lookup.adapters.memory.knowledge import MemoryKnowledge
from evidence_lookup.adapters.milvus import MilvusKnowledge, MilvusSettings
from evidence_lookup.adapters.vector_store import VectorStoreKnowledge, VectorStoreSettings
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.ports.knowledge_store import EmbeddedChunk
from evidence_lookup.testing.congruence import CongruentPath, check_congruence
from evidence_lookup.testing.knowledge_contract import Knowledge
from evidence_lookup.testing.paired_knowledge import PairedKnowledge


async def test_the_same_evidence_everywhere(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Memory, embedded Milvus and a VectorStore over it, by any metric, give the same keys."""

    def at(metric: str) -> MilvusSettings:
        return MilvusSettings(
            str(tmp_path / "k.db"), collection=f"by_{metric}", metric=metric, timeout_seconds=30
        )

    def milvus(metric: str) -> CongruentPath:
        return CongruentPath(opening(lambda: MilvusKnowledge(at(metric))), terms="jieba")

    def vector_store() -> Knowledge:
        settings = at("COSINE")
        search = VectorStoreKnowledge(VectorStoreSettings(), milvus=settings, embedder=EMBEDDER)
        return PairedKnowledge(search, MilvusKnowledge(settings), close=search.aclose)

    paths = {
        "memory": CongruentPath(opening(MemoryKnowledge), terms="bigrams"),
        "milvus COSINE": milvus("COSINE"),
        "milvus L2": milvus("L2"),
        "milvus IP": milvus("IP"),
        "vector store": CongruentPath(opening(vector_store), terms="jieba"),
    }
    chunks, requests = await handbook_chunks(), await handbook_requests()
    assert len(chunks) >= 120
    figures = await check_congruence(paths, chunks, requests, model=EMBEDDER.model)
    for (name, mode), agreement in figures.items():
        record_property(f"{name} {mode}", round(agreement.overlap, 3))
        print(f"{name} {mode}: overlap {agreement.overlap:.3f}")
    # Words are cut by other rules there, so that the sets differ; half of them do not.
    assert figures["milvus COSINE", SearchMode.KEYWORD].overlap > 0.5


class Forgetful(MemoryKnowledge):
    """Loses every tenth chunk."""

    async def upsert(self, chunks: Sequence[EmbeddedChunk]) -> None:
        """Write the others."""
        await super().upsert([one for n, one in enumerate(chunks) if n % 10])


@pytest.mark.parametrize("mode", [SearchMode.DENSE, SearchMode.KEYWORD])
@pytest.mark.parametrize("is_exact", [True, False])
async def test_a_path_that_loses_chunks_is_seen(mode: SearchMode, is_exact: bool) -> None:
    """The comparison fails where a path lacks a tenth of the chunks."""
    paths = {
        "memory": CongruentPath(opening(MemoryKnowledge)),
        "forgetful": CongruentPath(opening(Forgetful), is_exact=is_exact),
    }
    requests = [one for one in await handbook_requests() if one.mode is mode]
    with pytest.raises(AssertionError, match=f"forgetful against memory, {mode}"):
        await check_congruence(paths, await handbook_chunks(), requests[:6], model=EMBEDDER.model)
