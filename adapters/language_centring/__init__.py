"""Vectors without the direction that only says which language a text is in."""

from evidence_lookup.adapters.language_centring.embedder import LanguageCentredEmbedder

__all__ = ["LanguageCentredEmbedder"]
