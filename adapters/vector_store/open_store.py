"""A VectorStore, opened: what the table says of it, how it is asked and how it is closed."""

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from attrs import frozen

from evidence_lookup.adapters.vector_store.profiles import StoreProfile, listed, profile_of
from evidence_lookup.adapters.vector_store.running_query import running
from evidence_lookup.adapters.vector_store.scores import ScoreKind
from evidence_lookup.adapters.vector_store.settings import VectorStoreSettings
from evidence_lookup.adapters.vector_store.workers import Workers

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.vectorstores import VectorStore

    from evidence_lookup.ports.embedder import Vectors


@frozen
class OpenStore:
    """A store with what the table says of it; `score` is the one of its index."""

    store: "VectorStore"
    profile: StoreProfile
    score: ScoreKind

    @classmethod
    def of(cls, store: "VectorStore", settings: VectorStoreSettings) -> "OpenStore":
        """*store*, looked up in the table; may block on asking its index.

        Raises:
            SettingsError: its class is not listed, and *settings* do not declare it.
            CollectionMissingError, SchemaMismatchError: as `index_scores` says.
        """
        profile = profile_of(store, settings)
        return cls(store, profile, _score_of(store, profile))

    async def ask(
        self, workers: Workers, query: str, vector: "Vectors", arguments: dict[str, Any]
    ) -> "list[tuple[Document, float]]":
        """Documents with the store's own numbers, for a *vector* that is not embedded again."""
        if self.profile.by_vector:
            method = getattr(self.store, self.profile.by_vector)
            subject: Any = vector.tolist()
        else:
            method, subject = self._method_by_text(), query
        options = {**self.profile.options, **arguments}
        with running(vector):
            if iscoroutinefunction(method):
                found = await method(subject, **options)
            else:
                found = await workers.run(lambda: method(subject, **options))
        if not found and not isinstance(self.profile.score, ScoreKind):
            # Some take a collection that is gone for an empty one.
            await workers.run(lambda: _score_of(self.store, self.profile))
        return list(found)

    def dimension(self) -> int | None:
        """How long the vectors of the index are, where that can be told; may block."""
        return self.profile.dimension(self.store)

    def id_of(self, document: "Document") -> str | None:
        """The document's id, or else the primary key among its metadata."""
        if document.id is not None:
            return str(document.id)
        key = self.profile.key
        found = document.metadata.get(key(self.store)) if key is not None else None
        return None if found is None else str(found)

    def _method_by_text(self) -> Callable[..., Any]:
        """The asynchronous one if the class has its own: the inherited one runs in any thread."""
        name = "similarity_search_with_score"
        if self.score is ScoreKind.RELEVANCE:
            name = "similarity_search_with_relevance_scores"
        elif _is_own(self.store, f"a{name}"):
            name = f"a{name}"
        return getattr(self.store, name)  # type: ignore[no-any-return]


def closing(store: "VectorStore") -> Callable[[], Any] | None:
    """What closes *store*, asynchronous or blocking; LangChain has no way for all."""
    row = listed(store)
    owner: Any = getattr(store, row.own_client) if row and row.own_client else store
    close = getattr(owner, "aclose", None) or getattr(owner, "close", None)
    return close if callable(close) else None


def close_now(store: "VectorStore") -> None:
    """Close *store* if that can be done here; blocks."""
    close = closing(store)
    if close is not None and not iscoroutinefunction(close):
        close()


def _score_of(store: "VectorStore", profile: StoreProfile) -> ScoreKind:
    return profile.score if isinstance(profile.score, ScoreKind) else profile.score(store)


def _is_own(store: "VectorStore", name: str) -> bool:
    from langchain_core.vectorstores import VectorStore

    return getattr(type(store), name) is not getattr(VectorStore, name)
