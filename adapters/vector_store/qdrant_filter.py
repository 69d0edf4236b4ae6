"""Filters over the payload of a Qdrant collection."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any


def qdrant_filter(
    conditions: Sequence[tuple[str, tuple[str | int | bool, ...]]], store: Any
) -> Any:
    """All *conditions* as a filter for *store*, a `langchain_qdrant.QdrantVectorStore`."""
    models = import_module("qdrant_client.models")

    def equals(name: str, choice: str | int | bool) -> Any:
        # Quoted, since a dot in a name would mean a value inside a value.
        key = f'{store.metadata_payload_key}."{name}"'
        return models.FieldCondition(key=key, match=models.MatchValue(value=choice))

    return models.Filter(
        must=[
            models.Filter(should=[equals(name, choice) for choice in choices])
            for name, choices in conditions
        ]
    )
