"""Small ports in memory, scripted: they do what a test says, and tell what was asked of them."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

import anyio
import numpy as np
from attrs import field, frozen

from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.hints import HintTerm
from evidence_lookup.domain.hit import KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.score import ScoreSemantics
from evidence_lookup.domain.text import normalise
from evidence_lookup.ports.catalogue import Catalogue
from evidence_lookup.ports.clock import Clock
from evidence_lookup.ports.embedder import Embedder
from evidence_lookup.ports.hint_matcher import BuildHintMatcher, HintMatcher
from evidence_lookup.ports.knowledge_search import (
    KnowledgeSearchPort,
    KnowledgeSearchRequest,
    KnowledgeSearchResponse,
    SearchCapabilities,
)
from evidence_lookup.ports.trace import TraceRecorder

if TYPE_CHECKING:
    from evidence_lookup.ports.embedder import Vectors

MODEL = "fake@1"
DIMENSION = 4
CAPABILITIES = SearchCapabilities(
    path="fake",
    dimension=DIMENSION,
    semantics=ScoreSemantics.COSINE,
    modes=frozenset(SearchMode),
    max_top_k=1_000,
    max_query_characters=1_000,
    embedder=MODEL,
)


class Log:
    """What happened, in order, over every fake that shares it."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, line: str) -> None:
        """Note *line*."""
        self.lines.append(line)

    def count(self, line: str) -> int:
        """How often *line* happened."""
        return self.lines.count(line)


@frozen
class Step:
    """One prepared answer: first *delay* seconds, then *error*, else *hits*."""

    hits: tuple[KnowledgeSearchHit, ...] = ()
    error: Exception | None = None
    delay: float = 0.0

    async def play(self) -> tuple[KnowledgeSearchHit, ...]:
        """Do it."""
        await (anyio.sleep_forever() if math.isinf(self.delay) else anyio.sleep(self.delay))
        if self.error is not None:
            raise self.error
        return self.hits


NOTHING = Step()
HANG = Step(delay=math.inf)


def found(*hits: KnowledgeSearchHit) -> Step:
    """An answer that holds *hits*."""
    return Step(hits)


class ScriptedSearch:
    """Plays its steps in order, the last one for ever; records every request."""

    def __init__(self, *steps: Step, log: Log | None = None) -> None:
        self._steps = list(steps or (NOTHING,))
        self._log = log or Log()
        self.requests: list[KnowledgeSearchRequest] = []
        self.probes: list[Step] = [NOTHING]
        self.capabilities = CAPABILITIES
        self.running = 0
        self.most_running = 0

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """The next step's hits."""
        self._log.add("search")
        self.requests.append(request)
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            return KnowledgeSearchResponse(await step.play(), request.mode, "fake")
        finally:
            self.running -= 1

    async def probe(self) -> SearchCapabilities:
        """The capabilities, after the next step of `probes`."""
        self._log.add("probe")
        await (self.probes.pop(0) if len(self.probes) > 1 else self.probes[0]).play()
        return self.capabilities


class FakeEmbedder:
    """One fixed vector for every text; a token is a character."""

    def __init__(self, *, max_tokens: int = 10_000, log: Log | None = None) -> None:
        self.model = MODEL
        self.dimension = DIMENSION
        self.max_tokens = max_tokens
        self.unrelated_similarity = 0.2
        self.step = NOTHING
        self.queries: list[str] = []
        self._log = log or Log()

    def count_tokens(self, text: str) -> int:
        """Its characters."""
        return len(text)

    def fit(self, text: str) -> str:
        """Its first `max_tokens` characters."""
        return text[: self.max_tokens]

    async def embed_query(self, text: str) -> "Vectors":
        """The fixed vector, after `step`."""
        self._log.add("embed")
        self.queries.append(text)
        await self.step.play()
        return np.array([1, 0, 0, 0], dtype=np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> "Vectors":
        """As many fixed vectors."""
        return np.tile(await self.embed_query(""), (len(texts), 1))


class FakeCatalogue:
    """Entries in a dict; every call plays `step` first."""

    def __init__(self, *entries: CatalogueEntry, log: Log | None = None) -> None:
        self._log = log or Log()
        self._entries = {entry.doc_id: entry for entry in entries}
        self._revision = 0
        self.step = NOTHING

    async def entries(self) -> tuple[CatalogueEntry, ...]:
        """All, by id."""
        await self._play("entries")
        return tuple(entry for _, entry in sorted(self._entries.items()))

    async def get(self, doc_ids: Sequence[str]) -> dict[str, CatalogueEntry]:
        """Those that are there."""
        await self._play("get")
        return {one: self._entries[one] for one in doc_ids if one in self._entries}

    async def put(self, entries: Sequence[CatalogueEntry]) -> None:
        """Write them."""
        await self._play("put")
        self._entries.update((entry.doc_id, entry) for entry in entries)
        self._revision += bool(entries)

    async def remove(self, doc_ids: Sequence[str]) -> None:
        """Forget them."""
        await self._play("remove")
        self._revision += len([one for one in doc_ids if self._entries.pop(one, None)])

    async def revision(self) -> str:
        """A number that moves with every write."""
        await self._play("revision")
        return str(self._revision)

    async def _play(self, name: str) -> None:
        self._log.add(name)
        await self.step.play()


class SubstringMatcher:
    """Terms that stand anywhere in the query."""

    def __init__(self, terms: Sequence[HintTerm]) -> None:
        self._terms = tuple(terms)

    def match(self, query: str) -> tuple[HintTerm, ...]:
        """In the order of the terms."""
        return tuple(term for term in self._terms if term.normalised in normalise(query))


class FakeRecorder:
    """Keeps records in a list, after `step`."""

    def __init__(self, log: Log | None = None) -> None:
        self._log = log or Log()
        self.step = NOTHING
        self.records: list[ToolInvocation] = []

    async def record(self, invocations: Sequence[ToolInvocation]) -> None:
        """Keep them."""
        self._log.add("record")
        await self.step.play()
        self.records.extend(invocations)


@frozen
class TickingClock:
    """A fixed day; every look at `elapsed` is a millisecond after the one before."""

    _ticks: "count[int]" = field(factory=count)

    def now(self) -> datetime:
        """The fixed day."""
        return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def elapsed(self) -> float:
        """The next millisecond."""
        return next(self._ticks) / 1_000


_search: KnowledgeSearchPort = ScriptedSearch()
_embedder: Embedder = FakeEmbedder()
_catalogue: Catalogue = FakeCatalogue()
_matcher: HintMatcher = SubstringMatcher(())
_build: BuildHintMatcher = SubstringMatcher
_recorder: TraceRecorder = FakeRecorder()
_clock: Clock = TickingClock()
