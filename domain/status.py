"""What an answer is worth, in one word each (R54)."""

from collections.abc import Sequence
from enum import StrEnum

from attrs import frozen

from evidence_lookup.domain.evidence import EvidenceBlock
from evidence_lookup.domain.pack import ContextPackSummary
from evidence_lookup.domain.selection import Drop, DropReason


class EvidenceStatus(StrEnum):
    """Whether there is evidence, and if not, why not."""

    FOUND = "found"
    LOW_RELEVANCE = "low_relevance"
    NO_EVIDENCE = "no_evidence"
    UNAVAILABLE = "unavailable"


class RelevanceLevel(StrEnum):
    """How near the best block is to the question."""

    HIGH = "high"
    REFERENCE = "reference"
    LOW = "low"
    NONE = "none"


class CompletenessHint(StrEnum):
    """Whether the reader has everything that was accepted, or what held some back."""

    COMPLETE = "complete"
    CUT_BY_BUDGET = "cut_by_budget"
    CAPPED_PER_DOCUMENT = "capped_per_document"
    LIMITED_BY_RETURN_N = "limited_by_return_n"
    NONE = "none"


@frozen
class Thresholds:
    """Normalised similarities, 0 to 1, from which a block is a reference, and a near match."""

    reference: float
    high: float


def is_usable(similarity: float | None, has_blocks: bool, thresholds: Thresholds) -> bool:
    """Whether a result needs no second attempt.

    Blocks of which none has a similarity (keyword hits of a store without vectors) are usable:
    no score is not a low score.
    """
    return has_blocks and (similarity is None or similarity >= thresholds.reference)


def relevance_level(blocks: Sequence[EvidenceBlock], thresholds: Thresholds) -> RelevanceLevel:
    """The level of the best block; blocks without any similarity count as reference."""
    if not blocks:
        return RelevanceLevel.NONE
    best = max((b.similarity for b in blocks if b.similarity is not None), default=None)
    if not is_usable(best, True, thresholds):
        return RelevanceLevel.LOW
    if best is not None and best >= thresholds.high:
        return RelevanceLevel.HIGH
    return RelevanceLevel.REFERENCE


_STATUS = {
    RelevanceLevel.HIGH: EvidenceStatus.FOUND,
    RelevanceLevel.REFERENCE: EvidenceStatus.FOUND,
    RelevanceLevel.LOW: EvidenceStatus.LOW_RELEVANCE,
    RelevanceLevel.NONE: EvidenceStatus.NO_EVIDENCE,
}


def evidence_status(level: RelevanceLevel) -> EvidenceStatus:
    """The status that follows from the level, for a backend that answered."""
    return _STATUS[level]


def completeness(
    blocks: Sequence[EvidenceBlock], drops: Sequence[Drop], summary: ContextPackSummary
) -> tuple[CompletenessHint, str]:
    """The hint and its sentence; the budget speaks first, then the cap, then return-n."""
    if not blocks:
        return CompletenessHint.NONE, "There is no evidence to be complete."
    short = len(summary.cut) + len(summary.omitted)
    if short:
        return (
            CompletenessHint.CUT_BY_BUDGET,
            f"The context budget of {summary.budget} tokens cut or left out {short} of "
            f"{len(blocks)} evidence blocks.",
        )
    capped = sum(drop.reason is DropReason.DOCUMENT_CAP for drop in drops)
    if capped:
        return (
            CompletenessHint.CAPPED_PER_DOCUMENT,
            f"The per-document cap held back {_more(capped)} of the same documents.",
        )
    beyond = sum(drop.reason is DropReason.RETURN_N for drop in drops)
    if beyond:
        return (
            CompletenessHint.LIMITED_BY_RETURN_N,
            f"The limit on returned blocks held back {_more(beyond)}.",
        )
    return CompletenessHint.COMPLETE, "Every accepted evidence block is here in full."


def _more(count: int) -> str:
    return "1 more chunk" if count == 1 else f"{count} more chunks"
