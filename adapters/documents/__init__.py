"""Files' bytes to texts, by format."""

from evidence_lookup.adapters.documents.reader import FormatReader

__all__ = ["FormatReader"]
