"""What a store returns, where that depends on the index behind it. All of it may block."""

from typing import Any

from evidence_lookup.adapters.vector_store.scores import ScoreKind
from evidence_lookup.domain.errors import CollectionMissingError, SchemaMismatchError

_MILVUS = {"COSINE": ScoreKind.COSINE, "IP": ScoreKind.INNER_PRODUCT, "L2": ScoreKind.L2_SQUARED}
_CHROMA = {
    "cosine": ScoreKind.COSINE_DISTANCE,
    "ip": ScoreKind.INNER_PRODUCT_DISTANCE,
    "l2": ScoreKind.L2_SQUARED,
}
_QDRANT = {"Cosine": ScoreKind.COSINE, "Dot": ScoreKind.INNER_PRODUCT, "Euclid": ScoreKind.L2}


def milvus_score(store: Any) -> ScoreKind:
    """By the metric of the index on the store's one vector field.

    Raises:
        CollectionMissingError: the collection is not there, which LangChain takes for an empty one.
        SchemaMismatchError: it is searched by several vector fields, or by words.
    """
    name, fields = store.collection_name, store.vector_fields
    if not store.client.has_collection(name):
        raise CollectionMissingError(f"Milvus has no collection {name!r} (vector-store.factory)")
    indexes = [
        store.client.describe_index(name, index) for index in store.client.list_indexes(name)
    ]
    metrics = {
        str(index.get("field_name", "")): str(index.get("metric_type", "")) for index in indexes
    }
    metric = metrics.get(fields[0], "none (no index)") if len(fields) == 1 else "of several fields"
    return _known(_MILVUS, metric, f"collection {name!r}")


def chroma_score(store: Any) -> ScoreKind:
    """By the space of the collection's index, which Chroma tells in none of its public parts."""
    collection = store._collection
    # As it is stored: read in full, it is warned of each embedding that is not Chroma's own.
    configuration = collection.configuration_json
    index: Any = configuration.get("hnsw") or configuration.get("spann")
    space = str(index.get("space", "l2")) if index else "none (no index)"
    return _known(_CHROMA, space, f"collection {collection.name!r}")


def qdrant_score(store: Any) -> ScoreKind:
    """By the distance of the collection, which LangChain checks when it opens one."""
    distance = str(getattr(store.distance, "value", store.distance))
    return _known(_QDRANT, distance, f"collection {store.collection_name!r}")


def _known(kinds: dict[str, ScoreKind], metric: str, where: str) -> ScoreKind:
    if metric not in kinds:
        raise SchemaMismatchError(
            f"{where} (vector-store.factory) has the metric {metric}; the store must search one "
            f"vector field by {', '.join(kinds)}"
        )
    return kinds[metric]
