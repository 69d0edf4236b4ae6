"""Every setting, with its default: one frozen object, built once."""

from pathlib import Path
from typing import Literal, TypeAlias

from attrs import Factory, field, frozen, validators

from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings
from evidence_lookup.adapters.milvus.settings import MilvusSettings
from evidence_lookup.adapters.postgres.settings import PostgresSettings
from evidence_lookup.adapters.vector_store.settings import VectorStoreSettings
from evidence_lookup.domain.hit import SearchMode

PathName: TypeAlias = Literal["sdk", "vectorstore", "auto", "milvus", "elasticsearch", "memory"]
"""A retrieval path: ``sdk`` is the own one of the configured store."""

_fraction = validators.optional(validators.and_(validators.ge(0.0), validators.le(1.0)))
_positive = validators.gt(0.0)
_at_least_one = validators.ge(1)


def _top_k_or(default: int) -> int:
    def value(rag: "RagSettings") -> int:
        return rag.top_k or default

    return Factory(value, takes_self=True)


@frozen
class RagSettings:
    """How much is fetched, what counts as evidence, and how much the reader gets.

    `top_k` is the legacy name that stands in for `retrieve_k` and `return_n` where these are not
    set. Thresholds are normalised similarities, 0 to 1; an unset floor f is the embedder's
    own figure for unrelated texts, an unset reference threshold ``f + 0.2 (1 - f)``, an unset
    high threshold ``f + 0.4 (1 - f)``.
    """

    top_k: int | None = field(default=None, validator=validators.optional(_at_least_one))
    retrieve_k: int = field(default=_top_k_or(20), validator=_at_least_one)
    return_n: int = field(default=_top_k_or(5), validator=_at_least_one)
    max_chunks_per_document: int = field(default=2, validator=_at_least_one)
    mode: SearchMode = SearchMode.HYBRID
    evidence_floor: float | None = field(default=None, validator=_fraction)
    reference_threshold: float | None = field(default=None, validator=_fraction)
    high_threshold: float | None = field(default=None, validator=_fraction)
    context_budget: int = field(default=3_000, validator=_at_least_one)
    l1_enabled: bool = True
    deadline_seconds: float = field(default=30.0, validator=_positive)


@frozen
class FusionSettings:
    """How the dense and the keyword list become one in hybrid mode.

    `rule` is ``relative-score`` or ``reciprocal-rank``; `rank_constant` is the latter's k.
    """

    rule: Literal["relative-score", "reciprocal-rank"] = "relative-score"
    dense_weight: float = field(default=0.7, validator=validators.ge(0.0))
    keyword_weight: float = field(default=0.3, validator=validators.ge(0.0))
    rank_constant: float = field(default=60.0, validator=_positive)


@frozen
class EmbedderSettings:
    """Which model turns texts into vectors, and how it is reached.

    `unrelated_similarity` overrides the model's own figure. Times are in seconds. With
    `language_centring` the local model's vectors lose what only says their language, so that a
    question finds documents in the other one.
    """

    kind: Literal["local", "openai", "sentence-transformers", "memory"] = "local"
    model: str = ""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    dimensions: int | None = field(default=None, validator=validators.optional(_at_least_one))
    batch_size: int = field(default=64, validator=_at_least_one)
    max_retries: int = field(default=3, validator=validators.ge(0))
    timeout_seconds: float = field(default=30.0, validator=_positive)
    max_tokens: int = field(default=8_191, validator=_at_least_one)
    threads: int = field(default=2, validator=_at_least_one)
    query_prefix: str = ""
    passage_prefix: str = ""
    unrelated_similarity: float | None = field(default=None, validator=_fraction)
    cache_dir: Path | None = None
    language_centring: bool = True


@frozen
class IngestSettings:
    """What is read of a folder, and how it is cut. Patterns are those of ``.gitignore``."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    chunk_tokens: int = field(default=256, validator=validators.ge(32))
    category_from_folder: bool = False
    max_file_bytes: int = field(default=10_000_000, validator=_at_least_one)


@frozen
class ScopeSettings:
    """Names that every lookup's scope must have a value for; without it nothing is searched."""

    required: tuple[str, ...] = ()


@frozen
class TraceSettings:
    """Whether and where lookups are recorded.

    `sqlite` is a file in the data folder, `postgres` the database of ``postgres.url``. A record is
    written into the spool, a folder in the data folder, for which an answer waits at most
    `timeout_seconds`, and delivered from there. A record is at most `max_bytes` of JSON, the spool
    at most `spool_max_bytes`. `redact` is ``module:function``; the function gets a query and
    returns what is recorded in its place, and of errors only the kinds are recorded.
    """

    enabled: bool = True
    store: Literal["sqlite", "postgres"] = "sqlite"
    timeout_seconds: float = field(default=0.25, validator=_positive)
    max_bytes: int = field(default=65_536, validator=validators.ge(8_192))
    spool_max_bytes: int = field(default=67_108_864, validator=_at_least_one)
    redact: str = ""


@frozen
class CatalogueSettings:
    """Where the catalogue is: a `sqlite` file in the data folder, or shared in `postgres`."""

    store: Literal["sqlite", "postgres"] = "sqlite"


@frozen
class SidecarSettings:
    """A second path that runs beside the lookups, for the record only.

    `path` is any retrieval path but the one that lookups take; `deadline_seconds` bound each run,
    its opening included.
    """

    enabled: bool = False
    path: PathName = "vectorstore"
    deadline_seconds: float = field(default=5.0, validator=_positive)


@frozen
class Settings:
    """Everything that can be set.

    An empty ``milvus.uri`` is the embedded database in the data folder.

    In a file ``rag.retrieve-k`` is the key ``retrieve-k`` of the table ``[rag]``; in the
    environment it is ``EVIDENCE_LOOKUP_RAG_RETRIEVE_K``.
    """

    data_dir: Path = Path(".evidence-lookup")
    store: Literal["milvus", "elasticsearch", "memory"] = "milvus"
    rag: RagSettings = field(factory=RagSettings)
    fusion: FusionSettings = field(factory=FusionSettings)
    milvus: MilvusSettings = field(factory=MilvusSettings)
    elasticsearch: ElasticsearchSettings = field(factory=ElasticsearchSettings)
    vector_store: VectorStoreSettings = field(factory=VectorStoreSettings)
    embedder: EmbedderSettings = field(factory=EmbedderSettings)
    ingest: IngestSettings = field(factory=IngestSettings)
    scope: ScopeSettings = field(factory=ScopeSettings)
    trace: TraceSettings = field(factory=TraceSettings)
    catalogue: CatalogueSettings = field(factory=CatalogueSettings)
    postgres: PostgresSettings = field(factory=PostgresSettings)
    sidecar: SidecarSettings = field(factory=SidecarSettings)
