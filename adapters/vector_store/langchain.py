"""LangChain's modules, imported when they are needed."""

import re
from collections.abc import Callable
from importlib import import_module
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from evidence_lookup.domain.errors import MissingExtraError, SettingsError
from evidence_lookup.ports.embedder import Embedder

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

    from evidence_lookup.adapters.vector_store.embeddings import LookupEmbeddings

_FACTORY = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)")


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
    return checked(_function(factory)(embeddings), f"vector-store.factory: {factory} returns")


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


def _function(factory: str) -> Callable[[Any], Any]:
    match = _FACTORY.fullmatch(factory)
    if match is None:
        raise SettingsError([f"vector-store.factory is {factory!r}: write module:function"])
    name, attribute = match.groups()
    try:
        function = getattr(import_module(name), attribute)
    except ImportError as error:
        fault = (
            f"vector-store.factory: the module {name!r} cannot be imported (install it, or put "
            f"its folder on PYTHONPATH): {error}"
        )
        raise SettingsError([fault]) from error
    except AttributeError as error:
        fault = f"vector-store.factory: the module {name!r} has no {attribute!r}"
        raise SettingsError([fault]) from error
    if iscoroutinefunction(function):
        raise SettingsError([f"vector-store.factory: {factory} must be a plain function"])
    if not callable(function):
        raise SettingsError([f"vector-store.factory: {factory} is no function"])
    return function  # type: ignore[no-any-return]
