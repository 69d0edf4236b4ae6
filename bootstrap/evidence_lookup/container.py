"""Everything that is wired, in reading order: settings, clients, adapters, use cases."""

from typing import Any, get_args

from dependency_injector import containers, providers

from evidence_lookup import opening
from evidence_lookup.adapters.aho_corasick import build_hint_matcher
from evidence_lookup.adapters.documents import FormatReader
from evidence_lookup.adapters.filesystem import FilesystemSource
from evidence_lookup.adapters.system import SystemClock, new_id
from evidence_lookup.application.compare import Compare
from evidence_lookup.application.diagnosis import Diagnosis
from evidence_lookup.application.explain import Explain
from evidence_lookup.application.hint_index import HintIndex
from evidence_lookup.application.ingest import Ingest
from evidence_lookup.application.lookup import Lookup
from evidence_lookup.application.readiness import Readiness
from evidence_lookup.application.retrieval import Retriever
from evidence_lookup.application.settled_traces import SettledTraces
from evidence_lookup.domain.text import estimate_tokens
from evidence_lookup.settings import PathName, Settings


class Container(containers.DeclarativeContainer):
    """Override a provider to put a part of your own in its place."""

    settings = providers.Dependency(instance_of=Settings)

    # Clients: opened on first use, closed by shutdown_resources().
    milvus = providers.Resource(opening.open_milvus, settings)
    elasticsearch = providers.Resource(opening.open_elasticsearch, settings)
    catalogue = providers.Resource(opening.open_catalogue, settings)
    traces = providers.Resource(opening.open_traces, settings)
    spool = providers.Resource(opening.open_spool, settings, traces)
    embedder = providers.Resource(opening.open_embedder, settings)

    # Adapters, one for each port.
    clock = providers.Singleton(SystemClock)
    new_id = providers.Object(new_id)
    count_tokens = providers.Object(estimate_tokens)
    recorder = providers.Factory(opening.recorder, spool)
    settled_traces = providers.Factory(SettledTraces, traces, spool)
    source = providers.Singleton(FilesystemSource)
    reader = providers.Singleton(FormatReader)
    chunker = providers.Singleton(opening.chunker, settings, embedder)
    build_hint_matcher = providers.Object(build_hint_matcher)

    # Retrieval paths: `search` is the one that lookups use.
    memory = providers.Singleton(opening.memory_knowledge, settings)
    store = providers.Selector(
        settings.provided.store, milvus=milvus, elasticsearch=elasticsearch, memory=memory
    )
    # A VectorStore that the host has opened; None: the settings say how one is made.
    langchain_store: providers.Object[Any] = providers.Object(None)
    vector_store = providers.Resource(
        opening.open_vector_store, settings, embedder, langchain_store
    )
    auto = providers.Resource(opening.open_auto, settings, vector_store, store, embedder)
    search = providers.Selector(
        settings.provided.vector_store.mode, sdk=store, vectorstore=vector_store, auto=auto
    )
    search_path = providers.Aggregate(
        sdk=store,
        vectorstore=vector_store,
        auto=auto,
        milvus=milvus,
        elasticsearch=elasticsearch,
        memory=memory,
    )

    # Use cases.
    rules = providers.Singleton(opening.lookup_rules, settings, embedder)
    readiness = providers.Singleton(Readiness, search=search, embedder=embedder)
    hint_index = providers.Singleton(HintIndex, catalogue=catalogue, build=build_hint_matcher)
    recording = providers.Resource(opening.open_recording, recorder)
    # A function from a query to what is recorded of it; None: the settings may name one.
    redact: providers.Object[Any] = providers.Object(None)
    redaction = providers.Singleton(opening.redaction, settings, redact)
    retriever = providers.Singleton(
        Retriever, search=search, embedder=embedder, readiness=readiness
    )
    paths = providers.Singleton(opening.retrieval_paths, search_path.provider, embedder)
    sidecar = providers.Resource(opening.open_sidecar, settings, paths, recording, clock)
    lookup = providers.Singleton(
        Lookup,
        hint_index=hint_index,
        retriever=retriever,
        count_tokens=count_tokens,
        recording=recording,
        clock=clock,
        new_id=new_id,
        rules=rules,
        sidecar=sidecar,
        redact=redaction,
    )
    ingest = providers.Singleton(
        Ingest,
        source=source,
        reader=reader,
        chunker=chunker,
        embedder=embedder,
        store=store,
        catalogue=catalogue,
        clock=clock,
        max_file_bytes=settings.provided.ingest.max_file_bytes,
    )
    compare = providers.Singleton(
        Compare,
        make_path=paths,
        path_names=get_args(PathName),
        embedder=embedder,
        rules=rules,
    )
    explain = providers.Singleton(Explain, lookup=lookup, catalogue=catalogue)
    diagnosis = providers.Singleton(
        Diagnosis,
        embedder=embedder,
        readiness=readiness,
        catalogue=catalogue,
        traces=traces,
        sidecar=sidecar,
        spool=spool,
        clock=clock,
    )
