"""Two paths as one: the first while it serves, the second behind it."""

from evidence_lookup.adapters.auto.knowledge import AutoKnowledge

__all__ = ["AutoKnowledge"]
