"""What a lookup did, made by the run itself; values only, no content."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from attrs import field, frozen

from evidence_lookup.domain.evidence import RetrievalLayer
from evidence_lookup.domain.hints import QueryHints
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.path_try import PathTry, TraceError
from evidence_lookup.domain.rerank import Boost, RankedCandidate
from evidence_lookup.domain.score import Score
from evidence_lookup.domain.selection import Drop
from evidence_lookup.domain.sidecar import SidecarReport

RECORD_PATH = "record"


class FallbackReason(StrEnum):
    """Why the unfiltered attempt ran (R23, R24)."""

    NO_EVIDENCE = "filtered_vector_no_evidence"
    LOW_QUALITY = "filtered_vector_low_quality"


@frozen
class QueryCut:
    """One path read only a beginning of the query (R56); lengths in characters.

    The path `RECORD_PATH` is the trace itself.
    """

    path: str
    length: int
    kept: int


@frozen
class QueryTransform:
    """What the query became. `scope` holds the names of the host's filter, never its values.

    `redacted` says that `query` is not what was asked, but what the host lets be recorded.
    """

    query: str
    hints: QueryHints = field(factory=QueryHints)
    hint_filter: str | None = None
    scope: tuple[str, ...] = ()
    cuts: tuple[QueryCut, ...] = ()
    redacted: bool = False


@frozen
class Attempt:
    """One call of the search port.

    `mode` is the one that ran, `requested_mode` the one asked for; `degraded` says what the
    backend could not do (``hybrid_unavailable``). `hint_filter` is the category, if one was set.
    `path` is the backend that served; `tries` are the paths in their order where there are
    several, the one that served last.
    """

    name: str
    requested_mode: SearchMode
    top_k: int
    hint_filter: str | None = None
    mode: SearchMode | None = None
    path: str | None = None
    degraded: tuple[str, ...] = ()
    candidate_count: int = 0
    block_count: int = 0
    best_similarity: float | None = None
    error: TraceError | None = None
    tries: tuple[PathTry, ...] = ()


@frozen
class RetrievalTrace:
    """Attempts, counts and drops of one lookup.

    `candidate_count`, `block_count` and `drops` are those of the selected attempt, and
    ``candidate_count == block_count + len(drops)``. `timings` are seconds by stage, the only
    figures that differ between two equal runs. `reason` says why there is nothing to see
    (``empty_query``, ``l1_disabled``, the kind of a backend's error). `sidecar` is in records only:
    a result does not wait for it, and records of before there was one lack it.
    """

    attempts: tuple[Attempt, ...] = ()
    selected_attempt: str | None = None
    fallback_reason: FallbackReason | None = None
    filter_relaxed: bool = False
    retrieval_layer: RetrievalLayer | None = None
    candidate_count: int = 0
    block_count: int = 0
    drops: tuple[Drop, ...] = ()
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(factory=dict[str, float])
    sidecar: SidecarReport | None = None


@frozen
class RerankEntry:
    """Why one block stands where it stands; ``ranking_score = base + sum of boosts``."""

    final_rank: int
    evidence_key: str
    source: str | None
    base_score: Score
    base: float
    boosts: tuple[Boost, ...]
    ranking_score: float


def rerank_trace(accepted: Sequence[RankedCandidate]) -> tuple[RerankEntry, ...]:
    """The entries of the accepted candidates, in their final order (R35)."""
    return tuple(
        RerankEntry(
            final_rank=rank,
            evidence_key=one.candidate.evidence_key,
            source=one.candidate.source,
            base_score=one.candidate.score,
            base=one.base,
            boosts=one.boosts,
            ranking_score=one.ranking_score,
        )
        for rank, one in enumerate(accepted, start=1)
    )
