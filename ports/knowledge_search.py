"""Finding chunks: the one door to every search backend."""

from typing import TYPE_CHECKING, Protocol

from attrs import field, frozen

from evidence_lookup.domain.filters import HintFilter, Scope
from evidence_lookup.domain.hit import KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.path_try import PathTry
from evidence_lookup.domain.score import ScoreSemantics

if TYPE_CHECKING:
    from evidence_lookup.ports.embedder import Vectors


@frozen
class KnowledgeSearchRequest:
    """One search.

    `query` is the text for the keyword path, `vector` the same query as a unit vector, float32 of
    shape ``(dimension,)``. The application gives the vector in every mode, so that a keyword
    hit's `similarity_score` is known too; where it is None only the keyword mode can run. A
    `top_k` below 1 finds nothing, and one above `SearchCapabilities.max_top_k` is taken as that.
    """

    query: str
    vector: "Vectors | None" = field(eq=False)
    top_k: int
    mode: SearchMode = SearchMode.DENSE
    scope: Scope = field(factory=Scope)
    hint_filter: HintFilter | None = None


@frozen
class KnowledgeSearchResponse:
    """Hits best first. `mode` is what ran and `degraded` why it is not what was asked for.

    `path` is the short name of the backend that served; `tries` are all paths that were gone
    down, in their order, where an adapter has several.
    """

    hits: tuple[KnowledgeSearchHit, ...]
    mode: SearchMode
    path: str
    degraded: tuple[str, ...] = ()
    tries: tuple[PathTry, ...] = ()


@frozen
class SearchCapabilities:
    """What a backend can do, as measured by `KnowledgeSearchPort.probe`.

    `embedder` is the model that made the index where the backend knows it. `max_query_characters`
    bounds the text of the keyword path. `tries` are the paths of an adapter that has several, each
    with the reason why it cannot serve now.
    """

    path: str
    dimension: int
    semantics: ScoreSemantics
    modes: frozenset[SearchMode]
    max_top_k: int
    max_query_characters: int
    embedder: str | None = None
    tries: tuple[PathTry, ...] = ()


class KnowledgeSearchPort(Protocol):
    """Finds the chunks nearest to a query.

    One object serves several event loops, in turn and at once. A call whose caller is cancelled,
    by a deadline too, ends soon with CancelledError, never with an error of another kind, and
    leaves the adapter as it was.
    """

    async def search(self, request: KnowledgeSearchRequest) -> KnowledgeSearchResponse:
        """At most ``request.top_k`` hits in the request's scope, best first.

        Equal scores are ordered by hit id, so that the same data gives the same answer. Each hit's
        score has its semantics, one for all of a response; in dense mode it is the probed one.
        `found_by` names the lists that held the hit with its rank there.
        A mode that the backend lacks runs as dense, with ``hybrid_unavailable`` or
        ``keyword_unavailable`` in `degraded`. Both filters narrow the search itself, in every
        mode: no hit outside them is ever returned, and they do not eat into ``top_k``. Nothing
        found is an empty answer, not an error. A chunk written before the call is seen by it. Of
        a document that is replaced meanwhile in the same event loop or on a server, all hits are
        of one version.

        Raises:
            DimensionMismatchError: the vector is not ``(dimension,)`` long.
            InvalidVectorError: the vector is zero, NaN or infinite.
            UnsupportedModeError: no mode can run, since the vector is missing.
            CollectionMissingError: there is no such collection.
            BackendError: the backend does not answer, or refuses.
        """
        ...

    async def probe(self) -> SearchCapabilities:
        """What this backend can do, asked of the backend itself.

        Raises:
            CollectionMissingError: there is no such collection (nothing was ingested yet).
            SchemaMismatchError: the collection lacks a field that the settings name.
            BackendError: the backend does not answer, or refuses.
        """
        ...
