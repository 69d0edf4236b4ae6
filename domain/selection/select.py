"""The steps of selection in their order."""

from collections.abc import Sequence

from attrs import field, frozen
from attrs.validators import ge

from evidence_lookup.domain.rerank import RankedCandidate
from evidence_lookup.domain.selection.document_cap import cap_per_document
from evidence_lookup.domain.selection.drop import Drop
from evidence_lookup.domain.selection.duplicates import remove_duplicates
from evidence_lookup.domain.selection.floor import apply_floor
from evidence_lookup.domain.selection.return_n import limit_to_return_n


@frozen
class SelectionLimits:
    """How much may come out. `floor` is a normalised similarity, 0 to 1."""

    return_n: int = field(default=5, validator=ge(1))
    max_chunks_per_document: int = field(default=2, validator=ge(1))
    floor: float = 0.0


def select(
    ranked: Sequence[RankedCandidate], limits: SelectionLimits
) -> tuple[tuple[RankedCandidate, ...], tuple[Drop, ...]]:
    """What is accepted, best first, and what was left out: ``len(ranked)`` together.

    Floor, duplicates, per-document cap, return-n, in this order: what the floor or the cap frees
    goes to the next candidates.
    """
    accepted, below = apply_floor(ranked, limits.floor)
    accepted, repeated = remove_duplicates(accepted)
    accepted, capped = cap_per_document(accepted, limits.max_chunks_per_document)
    accepted, beyond = limit_to_return_n(accepted, limits.return_n)
    return accepted, (*below, *repeated, *capped, *beyond)
