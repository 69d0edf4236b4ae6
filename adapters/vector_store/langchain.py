"""LangChain's modules, imported when they are needed."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evidence_lookup.adapters.host_function import host_function
from evidence_lookup.domain.errors import MissingExtraError, SettingsError
from evidence_lookup.ports.embedder import Embedder

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

    from evidence_lookup.adapters.vector_store.embeddings import LookupEmbeddings


def lookup_embeddings(embedder: Embedder) -> "LookupEmbeddings":
    """*embedder* as LangChain's embeddings; the first time takes a moment.

    Raises:
        MissingExtraError: `langchain_core` is not installed.
    """
    try:
        from evidence_lookup.adapters.vector_store.embeddings import LookupEmbeddings
    except ImportError as error:
        raise MissingExtraError("vectorstore", "the VectorStore path") from error
    return LookupEmbeddings(embedder)


def made_by(factory: str, embedder: Embedder) -> "VectorStore":
    """The store that the function ``module:function`` makes for *embedder*.

    Raises:
        MissingExtraError: `langchain_core` is not installed.
        SettingsError: *factory* names no such function, or it returns something else.
    """
    embeddings = lookup_embeddings(embedder)
    make = host_function(factory, "vector-store.factory")
    return checked(make(embeddings), f"vector-store.factory: {factory} returns")


def checked(store: Any, what: str) -> "VectorStore":
    """*store*, which *what* names in a message.

    Raises:
        SettingsError: it is no VectorStore.
    """
    base: Any = import_module("langchain_core.vectorstores").VectorStore
    if not isinstance(store, base):
        raise SettingsError([f"{what} {type(store).__name__}, which is no VectorStore"])
    made: VectorStore = store
    return made
