"""The table: what each class of VectorStore returns as its score, and how it filters.

A subclass of a listed class counts as it. Any other class is declared in the settings.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from evidence_lookup.adapters.vector_store.filters import FilterKind
from evidence_lookup.adapters.vector_store.index_dimensions import (
    chroma_dimension,
    in_memory_dimension,
    milvus_dimension,
    qdrant_dimension,
)
from evidence_lookup.adapters.vector_store.index_scores import (
    chroma_score,
    milvus_score,
    qdrant_score,
)
from evidence_lookup.adapters.vector_store.scores import ScoreKind
from evidence_lookup.adapters.vector_store.settings import FILTERS, SCORES, VectorStoreSettings
from evidence_lookup.domain.errors import SettingsError

ScoreOf: TypeAlias = Callable[[Any], ScoreKind]


@frozen
class StoreProfile:
    """One row of the table.

    `score` is what the store returns, or a function that asks its index (it may block). `by_vector`
    names the method that takes a vector and returns documents with scores; where there is none,
    the store is asked by text, and its embeddings answer with the query's vector. `options` go
    with every search. `key` tells under which name the primary key comes among the metadata, where
    a document has no id. `own_client` names the attribute with the client that the store has made
    itself, where that must be closed. `dimension` asks how long the vectors of the index are (it
    may block), where that can be told.
    """

    class_name: str
    score: ScoreKind | ScoreOf
    filter: FilterKind
    by_vector: str = ""
    options: Mapping[str, Any] = field(factory=dict[str, Any])
    key: Callable[[Any], str] | None = None
    own_client: str = ""
    dimension: Callable[[Any], int | None] = lambda _: None


PROFILES = (
    StoreProfile(
        "langchain_milvus.vectorstores.milvus.Milvus",
        score=milvus_score,
        filter=FilterKind.MILVUS_EXPRESSION,
        by_vector="similarity_search_with_score_by_vector",
        # No metric, which could be another than the index's, and no width of the search, whose
        # default of 10 refuses to give more hits.
        options={"param": {}},
        key=lambda store: str(store._primary_field),
        own_client="client",
        dimension=milvus_dimension,
    ),
    StoreProfile(
        "langchain_core.vectorstores.in_memory.InMemoryVectorStore",
        score=ScoreKind.COSINE,
        filter=FilterKind.CALLABLE_DOCUMENT,
        by_vector="similarity_search_with_score_by_vector",
        dimension=in_memory_dimension,
    ),
    StoreProfile(
        "langchain_chroma.vectorstores.Chroma",
        score=chroma_score,
        filter=FilterKind.DICT_OPERATORS,
        # Distances, whatever its name says.
        by_vector="similarity_search_by_vector_with_relevance_scores",
        dimension=chroma_dimension,
    ),
    StoreProfile(
        "langchain_qdrant.qdrant.QdrantVectorStore",
        score=qdrant_score,
        filter=FilterKind.QDRANT_FILTER,
        by_vector="similarity_search_with_score_by_vector",
        key=lambda _: "_id",
        dimension=qdrant_dimension,
    ),
)


def listed(store: Any) -> StoreProfile | None:
    """The row of *store*'s class, if there is one."""
    names = _class_names(store)
    return next((one for name in names for one in PROFILES if one.class_name == name), None)


def profile_of(store: Any, settings: VectorStoreSettings) -> StoreProfile:
    """The row of *store*'s class, with what the settings declare in place of it.

    Raises:
        SettingsError: the class is not listed, and the settings do not declare it.
    """
    row, name = listed(store), _class_names(store)[0]
    faults = [
        f"vector-store.{key}: {name} is not a VectorStore that is known here, so {meaning} "
        f"must be declared: one of {', '.join(choices)}"
        for key, value, meaning, choices in (
            ("score", settings.score, "what its similarity_search_with_score returns", SCORES),
            ("filter", settings.filter, "how it takes a filter", FILTERS),
        )
        if not value and row is None
    ]
    if faults:
        raise SettingsError(faults)
    if row is None:
        return StoreProfile(name, ScoreKind(settings.score), FilterKind(settings.filter))
    return evolve(
        row,
        score=ScoreKind(settings.score) if settings.score else row.score,
        filter=FilterKind(settings.filter) if settings.filter else row.filter,
        # Relevance scores are given by text alone.
        by_vector="" if settings.score == ScoreKind.RELEVANCE else row.by_vector,
    )


def _class_names(store: Any) -> list[str]:
    return [f"{one.__module__}.{one.__qualname__}" for one in type(store).__mro__]
