"""What many recorded lookups say together: times, statuses, and what was not answered."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from attrs import frozen

from evidence_lookup.application.stage_times import Percentiles, by_stage
from evidence_lookup.domain.invocation_summary import InvocationSummary
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.domain.text import is_blank, normalise

_UNANSWERED = (EvidenceStatus.NO_EVIDENCE, EvidenceStatus.LOW_RELEVANCE)


@frozen
class StatusShare:
    """How many lookups had a status, and their share of all, 0 to 1."""

    count: int
    share: float


@frozen
class UnansweredQuery:
    """A query without good evidence, asked `count` times; the rest is of the last time."""

    query: str
    count: int
    status: EvidenceStatus
    last_asked: datetime
    last_id: str


@frozen
class TraceStats:
    """Figures over `count` recorded lookups, made from `first` to `last`.

    With `limit_reached` there may be older records than were read. `stages` are seconds in pipeline
    order, each over the lookups that entered the stage. Rates are shares of all lookups, 0 to 1,
    and None where there is none; the fallback rate is that of second attempts. `unanswered` are
    the queries with no evidence or of low relevance, the most frequent first, then the latest.
    """

    count: int
    limit_reached: bool
    first: datetime | None
    last: datetime | None
    stages: Mapping[str, Percentiles]
    statuses: Mapping[EvidenceStatus, StatusShare]
    fallback_rate: float | None
    no_evidence_rate: float | None
    unavailable_rate: float | None
    unanswered: tuple[UnansweredQuery, ...]


def trace_stats(
    summaries: Sequence[InvocationSummary], *, limit_reached: bool = False, top: int = 10
) -> TraceStats:
    """The figures over *summaries*, newest first, with at most *top* unanswered queries."""
    count = len(summaries)
    found = Counter(one.evidence_status for one in summaries)
    fallbacks = sum(one.fallback_reason is not None for one in summaries)

    def rate(part: int) -> float | None:
        return part / count if count else None

    return TraceStats(
        count=count,
        limit_reached=limit_reached,
        first=summaries[-1].created_at if summaries else None,
        last=summaries[0].created_at if summaries else None,
        stages=by_stage(one.timings for one in summaries),
        statuses={
            status: StatusShare(found[status], found[status] / count)
            for status in EvidenceStatus
            if found[status]
        },
        fallback_rate=rate(fallbacks),
        no_evidence_rate=rate(found[EvidenceStatus.NO_EVIDENCE]),
        unavailable_rate=rate(found[EvidenceStatus.UNAVAILABLE]),
        unanswered=_unanswered(summaries)[: max(top, 0)],
    )


def _unanswered(summaries: Sequence[InvocationSummary]) -> tuple[UnansweredQuery, ...]:
    """Grouped by their text as hints compare it, whatever its white space; blank ones apart."""
    newest: dict[str, InvocationSummary] = {}
    counts: Counter[str] = Counter()
    for one in summaries:
        if one.evidence_status in _UNANSWERED and not is_blank(one.query):
            key = " ".join(normalise(one.query).split())
            newest.setdefault(key, one)
            counts[key] += 1
    # Stable: of equally frequent ones the latest comes first, as the summaries do.
    return tuple(
        UnansweredQuery(one.query, count, one.evidence_status, one.created_at, one.id)
        for key, count in counts.most_common()
        for one in (newest[key],)
    )
