"""Knowledge in Elasticsearch, 9.x."""

from evidence_lookup.adapters.elasticsearch.knowledge import ElasticsearchKnowledge
from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings

__all__ = ["ElasticsearchKnowledge", "ElasticsearchSettings"]
