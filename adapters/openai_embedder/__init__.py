"""The embedder that asks a server speaking the OpenAI embeddings protocol."""

from evidence_lookup.adapters.openai_embedder.embedder import OpenAIEmbedder

__all__ = ["OpenAIEmbedder"]
