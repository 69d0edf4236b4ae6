"""Documents on a disk."""

from evidence_lookup.adapters.filesystem.source import FilesystemSource

__all__ = ["FilesystemSource"]
