"""An index as the product makes it."""

from typing import Any

from evidence_lookup.adapters.elasticsearch.helper_fields import (
    DOC_ID,
    EVIDENCE_KEY,
    FILTER_TERMS,
    VERSION,
)
from evidence_lookup.adapters.elasticsearch.scores import SIMILARITIES
from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings

MARK = "evidence_lookup"
SCHEMA = 1


def index_body(settings: ElasticsearchSettings, *, model: str, dimension: int) -> dict[str, Any]:
    """The settings and the mapping of a new index."""
    return {
        "settings": {
            # One shard: a refresh is then one step for every search.
            "number_of_shards": 1,
            "auto_expand_replicas": "0-1",
            # Only the refresh that ends a write makes it visible.
            "refresh_interval": "-1",
        },
        "mappings": {
            "dynamic": "strict",
            "_meta": {MARK: {"model": model, "schema": SCHEMA}},
            "properties": {
                settings.content_field: {"type": "text", "index": False},
                settings.keyword_field: {
                    "type": "text",
                    # It holds terms that are made here: the analyzers for Chinese and Korean are
                    # plugins, which a server may lack.
                    "analyzer": "whitespace",
                    "index_options": "freqs",
                },
                settings.vector_field: {
                    "type": "dense_vector",
                    "dims": dimension,
                    "index": True,
                    "similarity": SIMILARITIES[settings.metric],
                    # Said, since the default keeps vectors with less precision than scores need.
                    "index_options": {"type": "hnsw"},
                },
                settings.metadata_field: {"type": "object", "enabled": False},
                EVIDENCE_KEY: {"type": "keyword"},
                DOC_ID: {"type": "keyword"},
                FILTER_TERMS: {"type": "keyword"},
                VERSION: {"type": "long", "index": False},
            },
        },
    }
