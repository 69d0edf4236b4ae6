"""The pipeline as one chunk went through it."""

from collections.abc import Collection, Mapping
from enum import StrEnum

from attrs import frozen

from evidence_lookup.domain.explanation.stage import PIPELINE, Stage


class StepOutcome(StrEnum):
    """What became of the chunk at one stage."""

    PASSED = "passed"
    LOST = "lost"
    NOT_REACHED = "not_reached"
    UNKNOWN = "unknown"


@frozen
class Step:
    """One stage, named by what loses a chunk there; `detail` has its figures, if any."""

    stage: Stage
    outcome: StepOutcome
    detail: str = ""


def steps_to(
    stage: Stage, details: Mapping[Stage, str], *, unknown: Collection[Stage] = ()
) -> tuple[Step, ...]:
    """The whole pipeline of a chunk that *stage* lost, or that passed all of it.

    Of the stages before, those in *unknown* may or may not have been passed. A run that searched
    nothing has no steps.
    """
    if stage is not Stage.RETURNED and stage not in PIPELINE:
        return ()
    lost_at = len(PIPELINE) if stage is Stage.RETURNED else PIPELINE.index(stage)
    return tuple(
        Step(one, _outcome(position, lost_at, one in unknown), details.get(one, ""))
        for position, one in enumerate(PIPELINE)
    )


def _outcome(position: int, lost_at: int, is_unknown: bool) -> StepOutcome:
    if position > lost_at:
        return StepOutcome.NOT_REACHED
    if position == lost_at:
        return StepOutcome.LOST
    return StepOutcome.UNKNOWN if is_unknown else StepOutcome.PASSED
