"""Time and ids of the machine."""

from evidence_lookup.adapters.system.clock import SystemClock
from evidence_lookup.adapters.system.ids import new_id

__all__ = ["SystemClock", "new_id"]
