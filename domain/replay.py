"""A recorded lookup run again: what became of its evidence, and which records cannot be run."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from attrs import frozen

from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.path_try import TraceError
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.result import LookupResult
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.domain.trace import RECORD_PATH, FallbackReason


class SkipReason(StrEnum):
    """Why a record cannot be run again as it was."""

    REDACTED = "redacted"
    """The query that was asked is not in it."""
    QUERY_CUT = "query_cut"
    """It holds only a beginning of the query."""
    RECORD_SHORTENED = "record_shortened"
    """It was too large, so that it lacks some of its evidence."""
    SCOPE_NEEDED = "scope_needed"
    """Records hold no scope values, and a value for one of its names, or of those that are
    required now, was not given."""
    SCOPE_NOT_RECORDED = "scope_not_recorded"
    """A scope value was given for a name that it was not narrowed by."""
    REPEATED = "repeated"
    """A newer record of the same query, mode and scope names is run in its place."""


class ReplayOutcome(StrEnum):
    """What came of running a record again."""

    SAME = "same"
    """The same evidence keys in the same order, status and fallback."""
    CHANGED = "changed"
    """Evidence keys, their order, the status or the fallback differ; times never count."""
    FAILED = "failed"
    """It had an answer, and now the knowledge base is unavailable to it: counts as changed."""
    RECOVERED = "recovered"
    """It was unavailable when recorded, and has an answer now: nothing to compare with."""
    STILL_UNAVAILABLE = "still_unavailable"
    """It was unavailable when recorded, and is so again."""


@frozen
class RankedKey:
    """A piece of evidence and its rank, from 1."""

    evidence_key: str
    rank: int


@frozen
class MovedKey:
    """A piece of evidence that both answers have, at different ranks, from 1."""

    evidence_key: str
    rank_before: int
    rank_after: int


@frozen
class ReplayedLookup:
    """One record and its second run; `before` is as recorded, `after` as of now.

    `id` is the record's. `appeared` is in its new order, `vanished` and `moved` in the old one; all
    three are empty unless both runs have an answer. Timings are seconds by stage. `error` is why
    there is no answer now.
    """

    id: str
    created_at: datetime
    query: str
    mode: SearchMode
    outcome: ReplayOutcome
    appeared: tuple[RankedKey, ...]
    vanished: tuple[RankedKey, ...]
    moved: tuple[MovedKey, ...]
    status_before: EvidenceStatus
    status_after: EvidenceStatus
    fallback_before: FallbackReason | None
    fallback_after: FallbackReason | None
    timings_before: Mapping[str, float]
    timings_after: Mapping[str, float]
    error: TraceError | None = None


def skip_reason(
    record: ToolInvocation, scope_names: Collection[str], *, required: Collection[str] = ()
) -> SkipReason | None:
    """Why *record* cannot be run again with values for exactly *scope_names*; None if it can.

    *required* are the names without which nothing is looked up now.
    """
    details = record.retrieval_details
    transform, names = details.query_transform, set(details.query_transform.scope)
    if transform.redacted:
        return SkipReason.REDACTED
    if any(cut.path == RECORD_PATH for cut in transform.cuts):
        return SkipReason.QUERY_CUT
    if len(details.evidence_blocks) < record.block_count:
        return SkipReason.RECORD_SHORTENED
    if (names | set(required)) - set(scope_names):
        return SkipReason.SCOPE_NEEDED
    return SkipReason.SCOPE_NOT_RECORDED if set(scope_names) - names else None


def requested_mode(record: ToolInvocation) -> SearchMode | None:
    """The mode that *record* was asked in; None if it searched nothing."""
    attempts = record.retrieval_details.retrieval_trace.attempts
    return attempts[0].requested_mode if attempts else None


def replayed(
    record: ToolInvocation, result: LookupResult, *, mode: SearchMode, error: TraceError | None
) -> ReplayedLookup:
    """*record* beside *result*, what its query gives now in *mode*; *error* if unavailable."""
    trace = result.retrieval_trace
    keys_before = [one.evidence_key for one in record.retrieval_details.evidence_blocks]
    keys_after = [one.evidence_key for one in result.evidence_blocks]
    fallback_before = record.retrieval_details.fallback_reason
    outcome = _outcome(
        record.evidence_status,
        result.evidence_status,
        differs=(keys_before, record.evidence_status, fallback_before)
        != (keys_after, result.evidence_status, trace.fallback_reason),
    )
    if outcome is not ReplayOutcome.CHANGED:
        keys_before, keys_after = [], []
    before, after = _ranks(keys_before), _ranks(keys_after)
    return ReplayedLookup(
        id=record.id,
        created_at=record.created_at,
        query=record.query,
        mode=mode,
        outcome=outcome,
        appeared=tuple(RankedKey(key, rank) for key, rank in after.items() if key not in before),
        vanished=tuple(RankedKey(key, rank) for key, rank in before.items() if key not in after),
        moved=tuple(
            MovedKey(key, rank, after[key])
            for key, rank in before.items()
            if after.get(key, rank) != rank
        ),
        status_before=record.evidence_status,
        status_after=result.evidence_status,
        fallback_before=fallback_before,
        fallback_after=trace.fallback_reason,
        timings_before=record.timings,
        timings_after=trace.timings,
        error=error,
    )


def _outcome(before: EvidenceStatus, after: EvidenceStatus, *, differs: bool) -> ReplayOutcome:
    unavailable = EvidenceStatus.UNAVAILABLE
    if before is unavailable:
        still = after is unavailable
        return ReplayOutcome.STILL_UNAVAILABLE if still else ReplayOutcome.RECOVERED
    if after is unavailable:
        return ReplayOutcome.FAILED
    return ReplayOutcome.CHANGED if differs else ReplayOutcome.SAME


def _ranks(keys: Sequence[str]) -> dict[str, int]:
    return {key: rank for rank, key in enumerate(keys, start=1)}
