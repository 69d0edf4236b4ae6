"""What came of running recorded lookups again."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

from attrs import frozen

from evidence_lookup.application.stage_times import Percentiles, by_stage
from evidence_lookup.domain.replay import ReplayedLookup, ReplayOutcome, SkipReason
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.domain.trace import FallbackReason

T = TypeVar("T")

_COMPARED = (ReplayOutcome.SAME, ReplayOutcome.CHANGED, ReplayOutcome.FAILED)
_CHANGED = (ReplayOutcome.CHANGED, ReplayOutcome.FAILED)
_ANSWERED_TWICE = (ReplayOutcome.SAME, ReplayOutcome.CHANGED)


@frozen
class ReplayProgress:
    """Where a running replay stands, in lookups; `changed` of `done` differ from their record."""

    done: int
    total: int
    changed: int


@frozen
class StatusChange:
    """How many lookups went from one status to another."""

    before: EvidenceStatus
    after: EvidenceStatus
    count: int


@frozen
class FallbackChange:
    """How many lookups went from one reason of a second attempt, or none, to another."""

    before: FallbackReason | None
    after: FallbackReason | None
    count: int


@frozen
class LatencyChange:
    """Seconds as recorded and as of now, each over the lookups that entered the stage then."""

    before: Percentiles
    after: Percentiles


@frozen
class ReplayTotals:
    """Figures over all records.

    ``read == replayed + sum(skipped)``, and `outcomes` add up to `replayed`. `compared` had an
    answer when recorded; `changed` of these (``changed`` or ``failed``) differ now, and
    `changed_share`, 0 to 1, is None where none was compared. Keys are counted lookup by lookup.
    `latency`, by stage, is over the lookups that were answered both times; `errors` by kind.
    """

    read: int
    replayed: int
    skipped: Mapping[SkipReason, int]
    outcomes: Mapping[ReplayOutcome, int]
    compared: int
    changed: int
    changed_share: float | None
    keys_appeared: int
    keys_vanished: int
    keys_moved: int
    status_changes: tuple[StatusChange, ...]
    fallback_changes: tuple[FallbackChange, ...]
    latency: Mapping[str, LatencyChange]
    errors: Mapping[str, int]

    def exceeds(self, share: float) -> bool:
        """Whether more than *share*, 0 to 1, changed; so it is where nothing was compared."""
        return self.changed_share is None or self.changed_share > share


@frozen
class ReplayReport:
    """Recorded lookups run again, oldest first, and in all.

    With `limit_reached` there may be older records than were read.
    """

    totals: ReplayTotals
    limit_reached: bool
    lookups: tuple[ReplayedLookup, ...]

    @property
    def changed(self) -> tuple[ReplayedLookup, ...]:
        """The lookups whose answer differs from the recorded one."""
        return tuple(filter(is_changed, self.lookups))


def is_changed(lookup: ReplayedLookup) -> bool:
    """Whether there was an answer that has changed, or that there is no more."""
    return lookup.outcome in _CHANGED


def totals(lookups: Sequence[ReplayedLookup], skipped: Sequence[SkipReason]) -> ReplayTotals:
    """The figures over *lookups*, and the reasons of those that were left out."""
    outcomes = Counter(one.outcome for one in lookups)
    compared = sum(outcomes[one] for one in _COMPARED)
    changed = sum(outcomes[one] for one in _CHANGED)
    statuses = Counter((one.status_before, one.status_after) for one in lookups)
    twice = [one for one in lookups if one.outcome in _ANSWERED_TWICE]
    fallbacks = Counter((one.fallback_before, one.fallback_after) for one in twice)
    before = by_stage(one.timings_before for one in twice)
    after = by_stage(one.timings_after for one in twice)
    left_out = Counter(skipped)
    return ReplayTotals(
        read=len(lookups) + len(skipped),
        replayed=len(lookups),
        skipped={reason: left_out[reason] for reason in SkipReason if left_out[reason]},
        outcomes={outcome: outcomes[outcome] for outcome in ReplayOutcome if outcomes[outcome]},
        compared=compared,
        changed=changed,
        changed_share=changed / compared if compared else None,
        keys_appeared=sum(len(one.appeared) for one in lookups),
        keys_vanished=sum(len(one.vanished) for one in lookups),
        keys_moved=sum(len(one.moved) for one in lookups),
        status_changes=tuple(StatusChange(*pair, count) for pair, count in _differing(statuses)),
        fallback_changes=tuple(
            FallbackChange(*pair, count) for pair, count in _differing(fallbacks)
        ),
        latency={
            stage: LatencyChange(before[stage], after[stage]) for stage in after if stage in before
        },
        errors=dict(Counter(one.error.kind for one in lookups if one.error).most_common()),
    )


def _differing(pairs: Counter[tuple[T, T]]) -> list[tuple[tuple[T, T], int]]:
    """The pairs of two different values, the most frequent first."""
    return [(pair, count) for pair, count in pairs.most_common() if pair[0] != pair[1]]
