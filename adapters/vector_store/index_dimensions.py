"""How long the vectors of an index are; None while nobody can tell. All of it may block."""

from typing import Any


def milvus_dimension(store: Any) -> int | None:
    """As the schema of the collection says."""
    described = store.client.describe_collection(store.collection_name)
    lengths = {one["name"]: one.get("params", {}).get("dim") for one in described["fields"]}
    length = lengths.get(store.vector_fields[0])
    return None if length is None else int(length)


def in_memory_dimension(store: Any) -> int | None:
    """As long as its first vector."""
    row = next(iter(store.store.values()), None)
    return None if row is None else len(row["vector"])


def chroma_dimension(store: Any) -> int | None:
    """As long as some vector of the collection, which the first one decides."""
    found = store.get(limit=1, include=["embeddings"])["embeddings"]
    return len(found[0]) if len(found) else None


def qdrant_dimension(store: Any) -> int | None:
    """As the collection was made, for the vectors that are searched."""
    params: Any = store.client.get_collection(store.collection_name).config.params
    # One kind of vectors without a name, or several by their names.
    get: Any = getattr(params.vectors, "get", None)
    searched: Any = get(store.vector_name) if get is not None else params.vectors
    return None if searched is None else int(searched.size)
