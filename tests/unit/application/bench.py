"""A lookup on fakes, with everything in reach that a test looks at."""

from itertools import count
from typing import Any

from attrs import frozen
from tests.unit.application.fakes import (
    FakeCatalogue,
    FakeEmbedder,
    FakeRecorder,
    Log,
    ScriptedSearch,
    Step,
    SubstringMatcher,
    TickingClock,
)

from evidence_lookup.application.hint_index import HintIndex
from evidence_lookup.application.lookup import Lookup
from evidence_lookup.application.lookup_rules import LookupRules
from evidence_lookup.application.readiness import Readiness
from evidence_lookup.application.recording import Recording
from evidence_lookup.application.retrieval import Retriever
from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.errors import EvidenceLookupError
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.record import Redact, ToolInvocation
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.domain.selection import SelectionLimits
from evidence_lookup.domain.status import Thresholds
from evidence_lookup.domain.text import estimate_tokens

RULES = LookupRules(
    retrieve_k=20,
    limits=SelectionLimits(return_n=5, max_chunks_per_document=2, floor=0.2),
    thresholds=Thresholds(reference=0.5, high=0.8),
    context_budget=2_000,
    mode=SearchMode.HYBRID,
    l1_enabled=True,
    deadline_seconds=5.0,
    record_timeout_seconds=0.05,
)

REDIS = CatalogueEntry(
    doc_id="redis",
    source="redis.md",
    root="/kb",
    title="Redis Sentinel",
    category="databases",
    keywords=("redis",),
    entities=("sentinel",),
    content_hash="h",
)
MILVUS = CatalogueEntry(
    doc_id="milvus",
    source="milvus.md",
    root="/kb",
    title="Milvus Growth",
    category="vectors",
    keywords=("milvus",),
    content_hash="h",
)


def hit(
    doc_id: str = "a", index: int = 0, cosine: float | None = 0.9, **metadata: Any
) -> KnowledgeSearchHit:
    """A dense hit of chunk *index* of *doc_id*."""
    return KnowledgeSearchHit(
        id=f"{doc_id}#chunk-{index}",
        content=f"What {doc_id} says, part {index}.",
        score=Score(cosine, ScoreSemantics.COSINE),
        metadata={"doc_id": doc_id, "chunk_index": index, **metadata},
    )


@frozen
class Bench:
    """The use case and its fakes."""

    lookup: Lookup
    search: ScriptedSearch
    embedder: FakeEmbedder
    catalogue: FakeCatalogue
    recorder: FakeRecorder
    recording: Recording
    log: Log

    async def ask(
        self, query: str = "how does redis fail over", **scope: str | int
    ) -> LookupResult:
        """The answer to *query*; a typed error beside it is left alone."""
        result, _ = await self.lookup.lookup(query, scope=Scope(scope))
        return result

    async def error(self, query: str = "how does redis fail over") -> EvidenceLookupError | None:
        """The error beside the answer."""
        _, error = await self.lookup.lookup(query)
        return error

    @property
    def record(self) -> ToolInvocation:
        """The newest record."""
        return self.recorder.records[-1]


def bench(
    *steps: Step,
    rules: LookupRules = RULES,
    entries: tuple[CatalogueEntry, ...] = (),
    max_tokens: int = 10_000,
    redact: Redact | None = None,
) -> Bench:
    """A lookup whose search port plays *steps*."""
    log = Log()
    search = ScriptedSearch(*steps, log=log)
    embedder = FakeEmbedder(max_tokens=max_tokens, log=log)
    catalogue = FakeCatalogue(*entries, log=log)
    recorder = FakeRecorder(log)
    recording = Recording(recorder)
    ids = count(1)

    def count_tokens(text: str) -> int:
        log.add("pack")
        return estimate_tokens(text)

    lookup = Lookup(
        hint_index=HintIndex(catalogue, SubstringMatcher),
        retriever=Retriever(search, embedder, Readiness(search, embedder)),
        count_tokens=count_tokens,
        recording=recording,
        clock=TickingClock(),
        new_id=lambda: f"00000000-0000-7000-8000-{next(ids):012d}",
        rules=rules,
        redact=redact,
    )
    return Bench(lookup, search, embedder, catalogue, recorder, recording, log)
