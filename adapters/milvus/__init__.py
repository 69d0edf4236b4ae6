"""Knowledge in Milvus: an embedded file, or a server."""

from evidence_lookup.adapters.milvus.knowledge import MilvusKnowledge
from evidence_lookup.adapters.milvus.settings import MilvusSettings

__all__ = ["MilvusKnowledge", "MilvusSettings"]
