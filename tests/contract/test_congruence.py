"""Every adapter that needs no server gives the same evidence for the same chunks."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from tests.congruence_corpus import MODEL, handbook_chunks, handbook_requests

from evidence_lookup.adapters.memory.knowledge import MemoryKnowledge
from evidence_lookup.adapters.milvus import MilvusKnowledge, MilvusSettings
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.ports.knowledge_store import EmbeddedChunk
from evidence_lookup.testing.congruence import CongruentPath, check_congruence
from evidence_lookup.testing.knowledge_contract import Knowledge


def opening(make: Callable[[], Knowledge]) -> Callable[[], AbstractAsyncContextManager[Knowledge]]:
    """Opens what *make* makes, and removes its collection in the end."""

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Knowledge, None]:
        knowledge = make()
        yield knowledge
        await knowledge.drop()
        await knowledge.aclose()

    return opened


async def test_the_same_evidence_everywhere(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Memory and embedded Milvus, under each metric, give the same keys but for ties."""

    def milvus(metric: str) -> CongruentPath:
        settings = MilvusSettings(
            str(tmp_path / "k.db"), collection=f"by_{metric}", metric=metric, timeout_seconds=30
        )
        return CongruentPath(opening(lambda: MilvusKnowledge(settings)), terms="jieba")

    paths = {
        "memory": CongruentPath(opening(MemoryKnowledge), terms="bigrams"),
        "milvus COSINE": milvus("COSINE"),
        "milvus L2": milvus("L2"),
        "milvus IP": milvus("IP"),
    }
    chunks, requests = await handbook_chunks(), await handbook_requests()
    assert len(chunks) >= 120
    figures = await check_congruence(paths, chunks, requests, model=MODEL)
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
        await check_congruence(paths, await handbook_chunks(), requests[:6], model=MODEL)
