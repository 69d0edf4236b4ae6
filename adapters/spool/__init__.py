"""A spool of records: they are written down at once and delivered later. POSIX only."""

from evidence_lookup.adapters.spool.traces import SpooledTraces

__all__ = ["SpooledTraces"]
