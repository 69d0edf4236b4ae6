"""A candidate that was left out, and why."""

from enum import StrEnum

from attrs import frozen

from evidence_lookup.domain.rerank import RankedCandidate


class DropReason(StrEnum):
    """Which step left a candidate out."""

    BELOW_FLOOR = "below_floor"
    DUPLICATE = "duplicate"
    DOCUMENT_CAP = "document_cap"
    RETURN_N = "return_n"


@frozen
class Drop:
    """One candidate left out. `rank` is the one the port gave it, from 1."""

    evidence_key: str
    reason: DropReason
    rank: int
    similarity: float | None = None


def drop(ranked: RankedCandidate, reason: DropReason) -> Drop:
    """The drop of *ranked* for *reason*."""
    candidate = ranked.candidate
    return Drop(candidate.evidence_key, reason, candidate.original_rank, candidate.similarity)
