"""The older result shape, derived for old consumers; nothing in the library reads it (R42)."""

from attrs import frozen

from evidence_lookup.domain.evidence import EvidenceBlock
from evidence_lookup.domain.result import LookupResult


@frozen
class CompatibilityView:
    """The best block as `primary`, the others as `supplement`, in their order."""

    primary: EvidenceBlock | None
    supplement: tuple[EvidenceBlock, ...]


def compatibility_view(result: LookupResult) -> CompatibilityView:
    """The older view of *result*."""
    blocks = result.evidence_blocks
    return CompatibilityView(blocks[0] if blocks else None, blocks[1:])
