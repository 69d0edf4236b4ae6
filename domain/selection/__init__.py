"""From ranked candidates to evidence, every drop accounted for (R05 to R12, R53)."""

from evidence_lookup.domain.selection.drop import Drop, DropReason
from evidence_lookup.domain.selection.select import SelectionLimits, select

__all__ = ["Drop", "DropReason", "SelectionLimits", "select"]
