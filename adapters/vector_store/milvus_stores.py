"""`langchain-milvus` on a collection that is there. Imports LangChain and the driver."""

from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_milvus import BM25BuiltInFunction, Milvus

from evidence_lookup.adapters.milvus.driver import Driver, client_options
from evidence_lookup.adapters.milvus.settings import MilvusSettings


class AttachedMilvus(Milvus):
    """A store on a collection as it stands: nothing of it is made or changed.

    The class's own start makes an index where it finds none, and finds none with a driver that no
    longer shares connections between its two interfaces (pymilvus from 2.6.10 on).

    Its asynchronous calls go over `driver`, which is connected and closed by who gave it. A client
    of the class's own connects at its first call, each of several first ones anew, and all those
    connections but one stay open for ever.
    """

    driver: Driver | None = None

    @property
    def aclient(self) -> Any:
        """The client of the asynchronous calls."""
        return super().aclient if self.driver is None else self.driver

    def _init(self, *_: Any, **__: Any) -> None:
        # Its mark that the collection is there, which has been seen to.
        there: Any = True
        self.col = there


def dense_store(
    settings: MilvusSettings, uri: str, driver: Driver, embeddings: Embeddings
) -> AttachedMilvus:
    """The store over the vector field; blocks on connecting its synchronous client."""
    store = AttachedMilvus(
        embeddings, vector_field=settings.vector_field, **_arguments(settings, uri)
    )
    store.driver = driver
    return store


def keyword_store(settings: MilvusSettings, uri: str, driver: Driver) -> AttachedMilvus:
    """The store over the BM25 field; blocks on connecting its synchronous client."""
    function = BM25BuiltInFunction(
        input_field_names=settings.keyword_field, output_field_names=settings.sparse_field
    )
    store = AttachedMilvus(
        None,
        builtin_function=function,
        vector_field=settings.sparse_field,
        **_arguments(settings, uri),
    )
    store.driver = driver
    return store


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
