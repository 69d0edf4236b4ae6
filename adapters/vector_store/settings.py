"""Which VectorStore is searched, and what it says of itself."""

from collections.abc import Callable
from typing import Literal, TypeAlias

from attrs import Attribute, field, frozen
from attrs.validators import gt

from evidence_lookup.adapters.vector_store.filters import FilterKind
from evidence_lookup.adapters.vector_store.scores import ScoreKind

Mode: TypeAlias = Literal["sdk", "vectorstore", "spring-ai", "auto"]
SCORES = tuple(kind.value for kind in ScoreKind)
FILTERS = tuple(
    kind.value
    for kind in FilterKind
    if kind not in (FilterKind.MILVUS_EXPRESSION, FilterKind.QDRANT_FILTER)
)


def _one_of(choices: tuple[str, ...]) -> Callable[[object, "Attribute[str]", str], None]:
    def check(_: object, attribute: "Attribute[str]", value: str) -> None:
        if value and value not in choices:
            raise ValueError(
                f"vector-store.{attribute.name} is {value!r}: use one of {', '.join(choices)}, or "
                "leave it empty for a listed store"
            )

    return check


def _without_alias(mode: Mode) -> Mode:
    return "vectorstore" if mode == "spring-ai" else mode


@frozen
class VectorStoreSettings:
    """When a VectorStore is searched, and how it is reached.

    `mode` is ``sdk`` (never), ``vectorstore`` (always; ``spring-ai`` is another name for it) or
    ``auto`` (first, and the store's own path behind it). In ``auto`` a store that failed is left
    alone for `breaker_seconds`.

    `factory` is ``module:function``; the function is given a LangChain ``Embeddings`` object and
    returns a ``VectorStore``. Empty, it is `langchain-milvus` on the collection of the settings
    ``milvus.*``, which then count for everything, the timeout too. `score` is what
    ``similarity_search_with_score`` of an unlisted class returns (see `ScoreKind`), `filter` how
    it takes a filter (see `FilterKind`); empty, both are known for the class. Opening the store
    and each call of it end within `timeout_seconds`.

    Raises:
        ValueError: a choice is unknown or a time is not above 0.
    """

    mode: Mode = field(default="sdk", converter=_without_alias)
    factory: str = ""
    score: str = field(default="", validator=_one_of(SCORES))
    filter: str = field(default="", validator=_one_of(FILTERS))
    timeout_seconds: float = field(default=10.0, validator=gt(0))
    breaker_seconds: float = field(default=30.0, validator=gt(0))
