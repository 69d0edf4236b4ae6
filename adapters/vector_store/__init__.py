"""Knowledge in any LangChain VectorStore, found by `langchain-milvus` where no other is given."""

from evidence_lookup.adapters.vector_store.knowledge import VectorStoreKnowledge
from evidence_lookup.adapters.vector_store.settings import VectorStoreSettings

__all__ = ["VectorStoreKnowledge", "VectorStoreSettings"]
