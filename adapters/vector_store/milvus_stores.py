"""`langchain-milvus` on a collection that is there. Imports LangChain and the driver."""

from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_milvus import BM25BuiltInFunction, Milvus

from evidence_lookup.adapters.milvus.driver import client_options
from evidence_lookup.adapters.milvus.settings import MilvusSettings


class AttachedMilvus(Milvus):
    """A store on a collection as it stands: nothing of it is made or changed.

    The class's own start makes an index where it finds none, and finds none with a driver that no
    longer shares connections between its two interfaces (pymilvus from 2.6.10 on).
    """

    def _init(self, *_: Any, **__: Any) -> None:
        # Its mark that the collection is there, which has been seen to.
        there: Any = True
        self.col = there


def dense_store(settings: MilvusSettings, uri: str, embeddings: Embeddings) -> AttachedMilvus:
    """The store over the vector field; blocks on connecting."""
    return AttachedMilvus(
        embeddings, vector_field=settings.vector_field, **_arguments(settings, uri)
    )


def keyword_store(settings: MilvusSettings, uri: str) -> AttachedMilvus:
    """The store over the BM25 field; blocks on connecting."""
    function = BM25BuiltInFunction(
        input_field_names=settings.keyword_field, output_field_names=settings.sparse_field
    )
    return AttachedMilvus(
        None,
        builtin_function=function,
        vector_field=settings.sparse_field,
        **_arguments(settings, uri),
    )


def _arguments(settings: MilvusSettings, uri: str) -> dict[str, Any]:
    return {
        "collection_name": settings.collection,
        "connection_args": client_options(settings, uri),
        "consistency_level": settings.consistency,
        "timeout": settings.timeout_seconds,
        # Else it looks for the metric of an index, and adds widths of search that limit the hits.
        "search_params": {},
        "primary_field": settings.id_field,
        "text_field": settings.content_field,
    }
