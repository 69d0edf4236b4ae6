"""The embedder that runs any model of the sentence-transformers library."""

from evidence_lookup.adapters.sentence_transformers_embedder.embedder import (
    SentenceTransformersEmbedder,
)

__all__ = ["SentenceTransformersEmbedder"]
