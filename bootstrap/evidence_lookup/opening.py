"""What the container calls: one adapter each, as the settings say. Backends load on demand."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from attrs import evolve

from evidence_lookup.adapters.milvus.settings import MilvusSettings
from evidence_lookup.application.lookup_rules import LookupRules
from evidence_lookup.domain.errors import SettingsError
from evidence_lookup.domain.fusion import Fusion, reciprocal_rank, relative_score
from evidence_lookup.domain.selection import SelectionLimits
from evidence_lookup.domain.status import Thresholds
from evidence_lookup.settings import EmbedderSettings, Settings

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

    from evidence_lookup.adapters.auto import AutoKnowledge
    from evidence_lookup.adapters.elasticsearch import ElasticsearchKnowledge
    from evidence_lookup.adapters.memory.catalogue import MemoryCatalogue
    from evidence_lookup.adapters.memory.knowledge import MemoryKnowledge
    from evidence_lookup.adapters.milvus import MilvusKnowledge
    from evidence_lookup.adapters.postgres import PostgresCatalogue, PostgresTraces
    from evidence_lookup.adapters.spool import SpooledTraces
    from evidence_lookup.adapters.sqlite import SqliteCatalogue, SqliteTraces
    from evidence_lookup.adapters.vector_store import VectorStoreKnowledge
    from evidence_lookup.application.recording import Recording
    from evidence_lookup.application.redaction import Redaction
    from evidence_lookup.application.retrieval_path import RetrievalPath
    from evidence_lookup.application.sidecar import Sidecar
    from evidence_lookup.ports.catalogue import Catalogue
    from evidence_lookup.ports.chunker import Chunker
    from evidence_lookup.ports.clock import Clock
    from evidence_lookup.ports.embedder import Embedder
    from evidence_lookup.ports.knowledge_search import KnowledgeSearchPort
    from evidence_lookup.ports.trace import TraceRecorder

_DATABASE = "evidence-lookup.db"
_REFERENCE, _HIGH = 0.2, 0.4
_LAST_RECORDS_SECONDS = 2.0


async def open_milvus(settings: Settings) -> "AsyncGenerator[MilvusKnowledge]":
    """Milvus, by default the embedded database in the data folder; connected on first use."""
    from evidence_lookup.adapters.milvus import MilvusKnowledge

    knowledge = MilvusKnowledge(_milvus(settings), **_fusion(settings))
    async with aclosing(knowledge):
        yield knowledge


async def open_elasticsearch(settings: Settings) -> "AsyncGenerator[ElasticsearchKnowledge]":
    """Elasticsearch; connected on first use."""
    from evidence_lookup.adapters.elasticsearch import ElasticsearchKnowledge

    knowledge = ElasticsearchKnowledge(settings.elasticsearch, **_fusion(settings))
    async with aclosing(knowledge):
        yield knowledge


def check_paths(settings: Settings, *, has_own_store: bool) -> None:
    """Refuse paths that cannot mean what they say.

    Raises:
        SettingsError: lookups would search another store than ingest writes to, or the sidecar
            is the path that they take.
    """
    mode, sidecar = settings.vector_store.mode, settings.sidecar
    faults: list[str] = []
    is_shipped = not (has_own_store or settings.vector_store.factory)
    if mode != "sdk" and is_shipped and settings.store != "milvus":
        faults.append(
            f"vector-store.mode is {mode}, whose own store reads Milvus, but store is "
            f"{settings.store}: set vector-store.factory"
        )
    taken = {mode, settings.store} if mode == "sdk" else {mode}
    if sidecar.enabled and sidecar.path in taken:
        faults.append(f"sidecar.path is {sidecar.path}, which the lookups take themselves")
    if settings.store == "memory" and settings.catalogue.store == "postgres":
        faults.append(
            "catalogue.store is postgres, but store is memory, whose chunks are gone with the "
            "process: set catalogue.store to sqlite, which is then in memory too"
        )
    if faults:
        raise SettingsError(faults)


async def open_vector_store(
    settings: Settings, embedder: "Embedder", store: "VectorStore | None"
) -> "AsyncGenerator[VectorStoreKnowledge]":
    """The host's *store*, that of ``vector-store.factory`` or langchain-milvus; opened on use."""
    from evidence_lookup.adapters.vector_store import VectorStoreKnowledge

    knowledge = VectorStoreKnowledge(
        settings.vector_store,
        milvus=_milvus(settings),
        embedder=embedder,
        store=store,
        **_fusion(settings),
    )
    async with aclosing(knowledge):
        yield knowledge


async def open_auto(
    settings: Settings,
    first: "KnowledgeSearchPort",
    second: "KnowledgeSearchPort",
    embedder: "Embedder",
) -> "AsyncGenerator[AutoKnowledge]":
    """The VectorStore, and behind it the store's own path."""
    from evidence_lookup.adapters.auto import AutoKnowledge

    auto = AutoKnowledge(
        first,
        second,
        names=("vectorstore", settings.store),
        embedder=embedder,
        first_seconds=settings.vector_store.timeout_seconds,
        breaker_seconds=settings.vector_store.breaker_seconds,
    )
    async with aclosing(auto):
        yield auto


async def open_sidecar(
    settings: Settings,
    paths: "Callable[[str], RetrievalPath]",
    recording: "Recording",
    clock: "Clock",
) -> "AsyncGenerator[Sidecar | None]":
    """The second path beside the lookups, where it is enabled."""
    from evidence_lookup.application.sidecar import Sidecar

    if not (settings.sidecar.enabled and settings.trace.enabled):  # it is for the record only
        yield None
        return
    sidecar = Sidecar(
        paths(settings.sidecar.path),
        recording,
        clock,
        seconds=settings.sidecar.deadline_seconds,
        record_timeout_seconds=settings.trace.timeout_seconds,
    )
    async with aclosing(sidecar):
        yield sidecar


def retrieval_paths(
    search_path: "Callable[[str], Any]", embedder: "Embedder"
) -> "Callable[[str], RetrievalPath]":
    """What makes a path by its name; *search_path* opens its port, whose owner closes it."""
    from evidence_lookup.application.retrieval_path import RetrievalPath

    def make(name: str) -> RetrievalPath:
        @asynccontextmanager
        async def open_search() -> "AsyncGenerator[KnowledgeSearchPort]":
            made = search_path(name)
            yield await made if isawaitable(made) else made

        return RetrievalPath(name, open_search, embedder)

    return make


def memory_knowledge(settings: Settings) -> "MemoryKnowledge":
    """Knowledge that is gone with the process."""
    from evidence_lookup.adapters.memory.knowledge import MemoryKnowledge

    return MemoryKnowledge(**_fusion(settings))


async def open_catalogue(settings: Settings) -> "AsyncGenerator[Catalogue]":
    """What the store holds: in the data folder, a file for each store; of memory, in memory.

    With ``catalogue.store`` set to ``postgres`` it is there, for every host alike.
    """
    catalogue = _catalogue(settings)
    async with aclosing(catalogue):
        yield catalogue


def _catalogue(settings: Settings) -> "MemoryCatalogue | PostgresCatalogue | SqliteCatalogue":
    if settings.store == "memory":
        from evidence_lookup.adapters.memory.catalogue import MemoryCatalogue

        return MemoryCatalogue()
    if settings.catalogue.store == "postgres":
        from evidence_lookup.adapters.postgres import PostgresCatalogue

        return PostgresCatalogue(settings.postgres)
    from evidence_lookup.adapters.sqlite import SqliteCatalogue

    name = _DATABASE if settings.store == "milvus" else f"evidence-lookup-{settings.store}.db"
    return SqliteCatalogue(settings.data_dir / name)


async def open_traces(settings: Settings) -> "AsyncGenerator[PostgresTraces | SqliteTraces]":
    """The records: in the data folder, or in PostgreSQL."""
    traces = _traces(settings)
    async with aclosing(traces):
        yield traces


def _traces(settings: Settings) -> "PostgresTraces | SqliteTraces":
    if settings.trace.store == "postgres":
        from evidence_lookup.adapters.postgres import PostgresTraces

        return PostgresTraces(settings.postgres)
    from evidence_lookup.adapters.sqlite import SqliteTraces

    return SqliteTraces(settings.data_dir / _DATABASE)


async def open_recording(recorder: "TraceRecorder") -> "AsyncGenerator[Recording]":
    """What hands records to *recorder*, and waits a moment at its end for those under way."""
    from evidence_lookup.application.recording import Recording

    recording = Recording(recorder)
    try:
        yield recording
    finally:
        await recording.aclose(timeout_seconds=_LAST_RECORDS_SECONDS)


def redaction(settings: Settings, redact: "Callable[[str], str] | None") -> "Redaction | None":
    """The host's *redact*, or the function of ``trace.redact``; None without one.

    Raises:
        SettingsError: ``trace.redact`` names no function.
    """
    from evidence_lookup.adapters.host_function import host_function
    from evidence_lookup.application.redaction import Redaction

    if redact is None and settings.trace.redact:
        redact = host_function(settings.trace.redact, "trace.redact")
    return None if redact is None else Redaction(redact)


async def open_spool(
    settings: Settings, traces: "TraceRecorder"
) -> "AsyncGenerator[SpooledTraces | None]":
    """What lookups are written into, on its way to *traces*; with ``trace.enabled`` off, None."""
    from evidence_lookup.adapters.spool import SpooledTraces

    if not settings.trace.enabled:
        yield None
        return
    spool = SpooledTraces(
        traces,
        settings.data_dir / "spool",
        max_bytes=settings.trace.spool_max_bytes,
        max_record_bytes=settings.trace.max_bytes,
    )
    async with aclosing(spool):
        yield spool


def recorder(spool: "TraceRecorder | None") -> "TraceRecorder":
    """Where lookups are recorded; without a *spool*, nowhere."""
    from evidence_lookup.adapters.memory.no_traces import NoTraces

    return NoTraces() if spool is None else spool


async def open_embedder(settings: Settings) -> "AsyncGenerator[Embedder]":
    """The embedder of ``embedder.kind``; loaded on first use."""
    embedder, close = _embedder(settings.embedder)
    try:
        yield embedder
    finally:
        if close is not None:
            await close()


def _embedder(settings: EmbedderSettings) -> "tuple[Embedder, Any]":
    match settings.kind:
        case "local":
            from platformdirs import user_cache_path

            from evidence_lookup.adapters.language_centring import LanguageCentredEmbedder
            from evidence_lookup.adapters.local_embedder import LocalEmbedder

            folder = settings.cache_dir or user_cache_path("evidence-lookup")
            local = LocalEmbedder(cache_folder=folder, threads=settings.threads)
            return LanguageCentredEmbedder(local) if settings.language_centring else local, None
        case "openai":
            from evidence_lookup.adapters.openai_embedder import OpenAIEmbedder

            service = OpenAIEmbedder(
                model=settings.model,
                base_url=settings.base_url,
                api_key=settings.api_key,
                dimensions=settings.dimensions,
                batch_size=settings.batch_size,
                max_retries=settings.max_retries,
                timeout_seconds=settings.timeout_seconds,
                max_tokens=settings.max_tokens,
                query_prefix=settings.query_prefix,
                passage_prefix=settings.passage_prefix,
                unrelated_similarity=settings.unrelated_similarity,
            )
            return service, service.aclose
        case "sentence-transformers":
            from evidence_lookup.adapters.sentence_transformers_embedder import (
                SentenceTransformersEmbedder,
            )

            model = SentenceTransformersEmbedder(
                model=settings.model,
                threads=settings.threads,
                query_prefix=settings.query_prefix,
                passage_prefix=settings.passage_prefix,
                unrelated_similarity=settings.unrelated_similarity,
            )
            return model, None
        case "memory":
            from evidence_lookup.adapters.memory.embedder import MemoryEmbedder

            return MemoryEmbedder(), None


def chunker(settings: Settings, embedder: "Embedder") -> "Chunker":
    """The Markdown chunker, counting the embedder's tokens."""
    from evidence_lookup.adapters.markdown_chunker import MarkdownChunker

    size = min(settings.ingest.chunk_tokens, embedder.max_tokens)
    return MarkdownChunker(embedder.count_tokens, max_tokens=size)


def lookup_rules(settings: Settings, embedder: "Embedder") -> LookupRules:
    """The figures of a lookup: what is set, else the defaults and the embedder's own.

    Raises:
        SettingsError: the thresholds are not in their order.
    """
    rag = settings.rag
    floor = rag.evidence_floor
    if floor is None:
        floor = settings.embedder.unrelated_similarity
    if floor is None:
        floor = max(0.0, embedder.unrelated_similarity)
    reference, high = rag.reference_threshold, rag.high_threshold
    reference = floor + _REFERENCE * (1.0 - floor) if reference is None else reference
    high = max(reference, floor + _HIGH * (1.0 - floor)) if high is None else high
    if not floor <= reference <= high:
        raise SettingsError(
            [
                f"rag.evidence-floor ({floor:g}), rag.reference-threshold ({reference:g}) and "
                f"rag.high-threshold ({high:g}) must rise in this order"
            ]
        )
    return LookupRules(
        retrieve_k=rag.retrieve_k,
        limits=SelectionLimits(
            return_n=rag.return_n,
            max_chunks_per_document=rag.max_chunks_per_document,
            floor=floor,
        ),
        thresholds=Thresholds(reference=reference, high=high),
        context_budget=rag.context_budget,
        mode=rag.mode,
        l1_enabled=rag.l1_enabled,
        deadline_seconds=rag.deadline_seconds,
        record_timeout_seconds=settings.trace.timeout_seconds,
        required_scope=settings.scope.required,
    )


def _milvus(settings: Settings) -> MilvusSettings:
    if settings.milvus.uri:
        return settings.milvus
    return evolve(settings.milvus, uri=str(settings.data_dir / "milvus.db"))


def _fusion(settings: Settings) -> dict[str, Any]:
    chosen = settings.fusion
    by_rank: Fusion = partial(reciprocal_rank, k=chosen.rank_constant)
    return {
        "fusion": relative_score if chosen.rule == "relative-score" else by_rank,
        "dense_weight": chosen.dense_weight,
        "keyword_weight": chosen.keyword_weight,
    }
