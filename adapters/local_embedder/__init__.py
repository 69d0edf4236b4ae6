"""The embedder that needs no server: multilingual-e5-small on the processor."""

from evidence_lookup.adapters.local_embedder.embedder import LocalEmbedder

__all__ = ["LocalEmbedder"]
