"""A VectorStore that is not in the table: declared, asked, ordered, filtered, and its faults."""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

from evidence_lookup.adapters.memory.embedder import MemoryEmbedder
from evidence_lookup.adapters.milvus import MilvusSettings
from evidence_lookup.adapters.vector_store import VectorStoreKnowledge, VectorStoreSettings
from evidence_lookup.adapters.vector_store.langchain import lookup_embeddings
from evidence_lookup.adapters.vector_store.profiles import PROFILES, profile_of
from evidence_lookup.adapters.vector_store.scores import ScoreKind
from evidence_lookup.domain.errors import (
    BackendError,
    BackendFailedError,
    BackendTimeoutError,
    BackendUnavailableError,
    CallerError,
    CollectionMissingError,
    InvalidVectorError,
    ScopeError,
    SettingsError,
)
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.score import ScoreSemantics
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest, KnowledgeSearchResponse
from evidence_lookup.testing.knowledge_samples import asked, unit

Numbers = dict[str, float]
_GRPC: Any = import_module("grpc")
_MILVUS_ERROR: Any = import_module("pymilvus").MilvusException


class NoEmbedder(MemoryEmbedder):
    """Embeds nothing."""

    async def embed_query(self, text: str) -> Any:
        """A query comes with its vector."""
        raise AssertionError(f"{text!r} was embedded again")


_EMBEDDER = NoEmbedder(dimension=4)


class TheirStore(VectorStore):
    """A host's own class: gives its documents as told, best first by *is_lower_better*."""

    def __init__(
        self, numbers: Numbers, *, is_lower_better: bool = False, fault: Exception | None = None
    ) -> None:
        self.numbers = numbers
        self.is_lower_better = is_lower_better
        self.fault = fault
        self.metadata: dict[str, dict[str, Any]] = {}
        self.asked: list[dict[str, Any]] = []
        self.vectors: list[list[float]] = []

    @classmethod
    def from_texts(cls, *args: Any, **kwargs: Any) -> Any:
        """Not used."""
        raise NotImplementedError

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """Not used."""
        raise NotImplementedError

    def similarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The best *k*; it minds no filter."""
        self.asked.append({"query": query, "k": k, **kwargs})
        self.vectors.append(lookup_embeddings(_EMBEDDER).embed_query(query))
        if self.fault is not None:
            raise self.fault
        sign = 1 if self.is_lower_better else -1
        best = sorted(self.numbers.items(), key=lambda item: sign * item[1])[:k]
        return [
            (Document(page_content=key, id=key, metadata=self.metadata.get(key, {})), number)
            for key, number in best
        ]


class TheirAsyncStore(TheirStore):
    """Has an asynchronous method of its own."""

    async def asimilarity_search_with_score(
        self, *args: Any, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """As the other one, in the event loop."""
        assert asyncio.current_task() is not None
        return self.similarity_search_with_score(*args, **kwargs)


def over(
    store: VectorStore, score: str = "cosine", by: str = "none", seconds: float = 10
) -> VectorStoreKnowledge:
    """The path over *store*, declared."""
    return VectorStoreKnowledge(
        VectorStoreSettings(score=score, filter=by, timeout_seconds=seconds),
        milvus=MilvusSettings(),
        embedder=_EMBEDDER,
        store=store,
    )


async def search(
    store: VectorStore,
    request: KnowledgeSearchRequest | None = None,
    *,
    score: str = "cosine",
    by: str = "none",
    seconds: float = 10,
) -> KnowledgeSearchResponse:
    """One search, closed after it."""
    knowledge = over(store, score, by, seconds)
    try:
        return await knowledge.search(request or asked())
    finally:
        await knowledge.aclose()


@pytest.mark.parametrize(
    ("score", "by", "missing"),
    [
        ("", "", ("score", "filter")),
        ("cosine", "", ("filter",)),
        ("", "none", ("score",)),
    ],
)
async def test_R33_an_unknown_class_is_refused(
    score: str, by: str, missing: tuple[str, ...]
) -> None:
    """Until both are declared it is not searched; the message says how."""
    store = TheirStore({"a": 1.0})
    knowledge = over(store, score, by)
    for call in (knowledge.search(asked()), knowledge.probe()):
        with pytest.raises(CallerError) as caught:
            await call
        assert isinstance(caught.value, SettingsError)
        assert len(caught.value.faults) == len(missing)
        for fault, key in zip(caught.value.faults, missing, strict=True):
            assert f"vector-store.{key}: " in fault
            assert f"{__name__}.TheirStore" in fault
            assert ("cosine-distance" if key == "score" else "callable-document") in fault
    assert store.asked == []
    await knowledge.aclose()


@pytest.mark.parametrize(
    ("score", "is_lower_better", "numbers", "similarities"),
    [
        ("cosine", False, (0.9, 0.5, -1.0), (0.9, 0.5, -1.0)),
        ("cosine-distance", True, (0.1, 0.5, 2.0), (0.9, 0.5, -1.0)),
        ("inner-product", False, (3.0, 0.5, -1.0), (3.0, 0.5, -1.0)),
        ("inner-product-distance", True, (-2.0, 0.5, 2.0), (3.0, 0.5, -1.0)),
        ("l2-squared", True, (0.2, 1.0, 4.0), (0.9, 0.5, 0.0)),
        ("l2", True, (0.0, 1.0, 2.0), (1.0, 0.5, 0.0)),
    ],
)
@pytest.mark.parametrize("kind", [TheirStore, TheirAsyncStore])
async def test_R33_a_declared_class_is_searched(
    kind: type[TheirStore],
    score: str,
    is_lower_better: bool,
    numbers: tuple[float, ...],
    similarities: tuple[float, ...],
) -> None:
    """C13, C15: its numbers become similarities and keep its order, as the settings say."""
    store = kind(dict(zip("abc", numbers, strict=True)), is_lower_better=is_lower_better)
    response = await search(store, score=score)
    assert [hit.id for hit in response.hits] == ["a", "b", "c"]
    assert [hit.score.value for hit in response.hits] == pytest.approx(similarities)
    assert {hit.score.semantics for hit in response.hits} == {ScoreKind(score).semantics}
    assert [hit.similarity_score for hit in response.hits] == [hit.score for hit in response.hits]
    assert response.path == "vectorstore"


async def test_relevance_is_asked_by_its_own_method() -> None:
    """`relevance` is what LangChain's own method gives, which turns the store's number itself."""

    class Related(TheirStore):
        def _select_relevance_score_fn(self) -> Callable[[float], float]:
            return lambda distance: 1.0 - distance / 2.0

    store = Related({"near": 0.2, "far": 1.0}, is_lower_better=True)
    hits = (await search(store, score="relevance")).hits
    assert [(hit.id, hit.score.value) for hit in hits] == [("near", 0.9), ("far", 0.5)]
    assert {hit.score.semantics for hit in hits} == {ScoreSemantics.RELEVANCE}


async def test_a_class_without_scores_is_told_so() -> None:
    """A store that cannot give the declared kind is the settings' fault, by name."""
    with pytest.raises(SettingsError, match=r"vector-store.score: TheirStore has no search"):
        await search(TheirStore({"a": 1.0}), score="relevance")


@pytest.mark.parametrize("kind", [TheirStore, TheirAsyncStore])
async def test_a_query_is_embedded_once(kind: type[TheirStore]) -> None:
    """The store's embeddings answer with the request's vector, whatever it asks and how often."""
    store = kind({"a": 1.0})
    knowledge = over(store)
    vectors = [unit(1), unit(0, 1), unit(0, 0, 1)]
    await asyncio.gather(*(knowledge.search(asked(vector=vector)) for vector in vectors))
    assert sorted(store.vectors) == sorted(vector.tolist() for vector in vectors)
    await knowledge.aclose()


async def test_R12_ties_are_ordered_by_id_however_many() -> None:
    """A list is fetched longer until its ties are all there; what the limit cuts is settled."""
    names = [f"d{n:03}" for n in range(300)]
    store = TheirStore(dict.fromkeys(reversed(names), 0.5) | {"best": 0.9})
    hits = (await search(store, asked(top_k=5))).hits
    assert [hit.id for hit in hits] == ["best", *names[:4]]
    assert [one["k"] for one in store.asked] == [13, 52, 208, 832]
    assert [hit.found_by[0].rank for hit in hits] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("score", ["l2-squared", "l2"])
async def test_R12_what_is_reported_alike_is_ordered_by_id(score: str) -> None:
    """Distances beyond a right angle are one relevance, so that ids order them, also at the cut."""
    numbers = {"z": 2.5, "y": 0.1} | {f"d{n:02}": 3.9 - n / 100 for n in range(30)}
    store = TheirStore(numbers, is_lower_better=True)
    hits = (await search(store, asked(top_k=4), score=score)).hits
    assert [hit.id for hit in hits] == ["y", "d00", "d01", "d02"]
    assert [hit.score.value for hit in hits[1:]] == [0.0, 0.0, 0.0]


async def test_C26_nan_is_last() -> None:
    """A document whose number is NaN or infinite stands last, without a value."""

    class Odd(TheirStore):
        def similarity_search_with_score(
            self, query: str, k: int = 4, **kwargs: Any
        ) -> list[tuple[Document, float]]:
            return [(Document(page_content=k, id=k), n) for k, n in self.numbers.items()]

    store = Odd({"nan": math.nan, "low": 0.1, "inf": math.inf, "high": 0.9})
    hits = (await search(store)).hits
    assert [hit.id for hit in hits] == ["high", "low", "inf", "nan"]
    assert [hit.score.value for hit in hits] == [0.9, 0.1, None, None]


async def test_R01_R02_identity_without_ids() -> None:
    """A document without an id is a hit without one, in the store's order among equals."""

    class Nameless(TheirStore):
        def similarity_search_with_score(
            self, query: str, k: int = 4, **kwargs: Any
        ) -> list[tuple[Document, float]]:
            return [(Document(page_content=text), 0.5) for text in ("second", "first")]

    hits = (await search(Nameless({}))).hits
    assert [(hit.id, hit.content) for hit in hits] == [(None, "second"), (None, "first")]


@pytest.mark.parametrize("by", ["callable-document", "callable-metadata", "dict-equality"])
async def test_R26_a_store_that_ignores_its_filter_leaks_nothing(by: str) -> None:
    """The scope is checked on every hit again, and documents in scope still come."""
    store = TheirStore({f"other{n}": 0.9 for n in range(100)} | {"own": 0.1})
    store.metadata = {"own": {"tenant": "acme"}, "other1": {"tenant": "other"}}
    request = asked(scope=Scope({"tenant": "acme"}), top_k=3)
    assert [hit.id for hit in (await search(store, request, by=by)).hits] == ["own"]
    assert all(one["filter"] for one in store.asked)


@pytest.mark.parametrize("category", [None, "ops"])
async def test_R26_a_store_that_cannot_filter_is_refused(category: str | None) -> None:
    """With a scope or a hint filter it is not searched at all; without them it is."""
    store = TheirStore({"a": 1.0})
    scope = Scope() if category else Scope({"tenant": "acme"})
    with pytest.raises(ScopeError, match=r"TheirStore cannot filter.*nothing was searched"):
        await search(store, asked(scope=scope, category=category))
    assert store.asked == []
    assert len((await search(store)).hits) == 1


async def test_C48_other_modes_run_as_dense() -> None:
    """Only vectors are searched, and the response says so."""
    for mode in (SearchMode.KEYWORD, SearchMode.HYBRID):
        response = await search(TheirStore({"a": 1.0}), asked(mode=mode))
        assert (response.mode, response.degraded) == (SearchMode.DENSE, (f"{mode}_unavailable",))


async def test_the_probe_is_a_real_search() -> None:
    """It asks the store, so that a dead one is no capable one."""
    store = TheirStore({"a": 1.0})
    knowledge = over(store, "cosine-distance")
    capabilities = await knowledge.probe()
    assert len(store.asked) == 1
    assert capabilities.dimension == 4
    assert capabilities.semantics is ScoreSemantics.COSINE
    assert capabilities.modes == {SearchMode.DENSE}
    assert capabilities.embedder is None
    store.fault = ConnectionRefusedError("refused")
    with pytest.raises(BackendUnavailableError):
        await knowledge.probe()
    await knowledge.aclose()


class Coded(Exception):
    """An error of some store, with a number or a word as its code."""

    def __init__(self, code: Any) -> None:
        super().__init__("refused")
        self.code = code


def _status(code: Any) -> Exception:
    """An error of gRPC."""

    def told(_: object) -> Any:
        return code

    kind: Any = type("Status", (_GRPC.RpcError,), {"code": told})
    error: Exception = kind("refused")
    return error


def _needs_more(one: object, another: object) -> int:
    return 2


@pytest.mark.parametrize("code", [2, 100, 101, 800, 1400, "UNAVAILABLE", _needs_more, lambda: 100])
async def test_numbers_of_others_are_not_those_of_milvus(code: Any) -> None:
    """What 2 or 100 means to Milvus it does not mean to another store: the search failed."""
    with pytest.raises(BackendFailedError, match="Coded: refused"):
        await search(TheirStore({}, fault=Coded(code)))


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (_MILVUS_ERROR(100, "no such collection"), CollectionMissingError),
        (_MILVUS_ERROR(2, "no connection"), BackendUnavailableError),
        (_MILVUS_ERROR(1, "bad"), BackendFailedError),
        (_status(_GRPC.StatusCode.UNAVAILABLE), BackendUnavailableError),
        (_status(_GRPC.StatusCode.DEADLINE_EXCEEDED), BackendTimeoutError),
        (_status(_GRPC.StatusCode.INVALID_ARGUMENT), BackendFailedError),
    ],
)
async def test_codes_of_milvus_and_grpc_are_read(
    fault: Exception, expected: type[BackendError]
) -> None:
    """Those of Milvus' own driver, and the statuses of any store's gRPC, wrapped ones too."""
    for one in (fault, _caused(RuntimeError("wrapped"), fault)):
        with pytest.raises(expected, match="TheirStore"):
            await search(TheirStore({}, fault=one))


def _caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("fault", "expected", "message"),
    [
        (TimeoutError("late"), BackendTimeoutError, "vector-store.timeout-seconds.*late"),
        (ConnectionResetError("reset"), BackendUnavailableError, "ConnectionResetError: reset"),
        (OSError("no route"), BackendUnavailableError, "TheirStore.*no route"),
        (
            _caused(RuntimeError("wrapped"), ConnectionRefusedError("refused")),
            BackendUnavailableError,
            "RuntimeError: wrapped",
        ),
        (_caused(ValueError("slow"), TimeoutError()), BackendTimeoutError, "ValueError: slow"),
        (ValueError("bad shape"), BackendFailedError, "TheirStore.*ValueError: bad shape"),
    ],
)
async def test_errors_of_the_store_stop_here(
    fault: Exception, expected: type[BackendError], message: str
) -> None:
    """Each becomes one of this library, by what led to it, and keeps its text and its cause."""
    with pytest.raises(expected, match=message) as caught:
        await search(TheirStore({}, fault=fault))
    # Not `is`: the event loop makes a TimeoutError of its own of one that comes from a thread.
    assert repr(caught.value.__cause__) == repr(fault)


async def test_a_bad_vector_never_reaches_the_store() -> None:
    """C26: a vector without a direction is refused before."""
    store = TheirStore({"a": 1.0})
    with pytest.raises(InvalidVectorError):
        await search(store, asked(vector=unit(1) * 0))
    assert store.asked == []


@pytest.fixture
def stuck() -> Iterator[threading.Event]:
    """Set at the end, so that no thread outlives the test."""
    event = threading.Event()
    yield event
    event.set()


class StuckStore(TheirStore):
    """Answers when it is let go."""

    release: threading.Event

    def similarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Late."""
        self.release.wait(60)
        return super().similarity_search_with_score(query, k, **kwargs)


async def test_a_frozen_store_ends_in_time(stuck: threading.Event) -> None:
    """However many searches hang, each ends in its time, and the store serves again after."""
    store = StuckStore({"a": 1.0})
    store.release = stuck
    knowledge = over(store, seconds=0.2)
    began = time.perf_counter()
    outcomes = await asyncio.gather(
        *(knowledge.search(asked()) for _ in range(20)), return_exceptions=True
    )
    assert time.perf_counter() - began < 1.5
    assert {type(outcome) for outcome in outcomes} == {BackendTimeoutError}
    assert "0.2 s (vector-store.timeout-seconds)" in str(outcomes[0])
    # Threads of its own hang: the event loop's are free.
    assert await asyncio.wait_for(asyncio.to_thread(lambda: 1), 5) == 1
    stuck.set()
    assert len((await knowledge.search(asked())).hits) == 1
    await knowledge.aclose()


async def test_a_store_that_opens_late_is_closed(stuck: threading.Event) -> None:
    """A factory that hangs is waited for in time; what it makes after closing is closed at once."""
    made: list[Any] = []

    class Closable(InMemoryVectorStore):
        is_closed = False

        def close(self) -> None:
            self.is_closed = True

    def make(embeddings: Any) -> Closable:
        stuck.wait(60)
        made.append(Closable(embeddings))
        return made[-1]  # type: ignore[no-any-return]

    globals()["make_late"] = make
    settings = VectorStoreSettings(factory=f"{__name__}:make_late", timeout_seconds=0.2)
    knowledge = VectorStoreKnowledge(settings, milvus=MilvusSettings(), embedder=_EMBEDDER)
    for _ in range(2):  # the second waits for the same opening
        with pytest.raises(BackendTimeoutError, match=r"vector-store.timeout-seconds"):
            await knowledge.search(asked())
    await knowledge.aclose()
    stuck.set()
    for _ in range(100):
        if made and made[0].is_closed:
            break
        await asyncio.sleep(0.02)
    assert [store.is_closed for store in made] == [True]


async def test_a_store_that_is_refused_is_closed() -> None:
    """What a factory makes of an unknown class is not left open at every try."""
    made: list[Any] = []

    class Closable(TheirStore):
        is_closed = False

        def close(self) -> None:
            self.is_closed = True

    def make(_: Any) -> Closable:
        made.append(Closable({"a": 1.0}))
        return made[-1]  # type: ignore[no-any-return]

    globals()["make_unknown"] = make
    settings = VectorStoreSettings(factory=f"{__name__}:make_unknown")
    knowledge = VectorStoreKnowledge(settings, milvus=MilvusSettings(), embedder=_EMBEDDER)
    for _ in range(2):
        with pytest.raises(SettingsError, match=r"vector-store.score"):
            await knowledge.search(asked())
    await knowledge.aclose()
    assert [store.is_closed for store in made] == [True, True]


def test_a_subclass_counts_as_its_class() -> None:
    """The table is read by the classes that a store is made of, nearest first."""

    class Mine(InMemoryVectorStore):
        pass

    found = profile_of(Mine(lookup_embeddings(_EMBEDDER)), VectorStoreSettings())
    assert found.class_name == "langchain_core.vectorstores.in_memory.InMemoryVectorStore"
    assert len({one.class_name for one in PROFILES}) == len(PROFILES)


def test_what_is_declared_goes_before_the_table() -> None:
    """A listed class can be declared otherwise, each part for itself."""
    store = InMemoryVectorStore(lookup_embeddings(_EMBEDDER))
    found = profile_of(store, VectorStoreSettings(score="l2-squared"))
    assert found.score is ScoreKind.L2_SQUARED
    assert found.filter == "callable-document"
    assert profile_of(store, VectorStoreSettings(filter="none")).filter == "none"


@pytest.mark.parametrize(
    ("key", "value"), [("score", "similarity"), ("filter", "sql"), ("timeout_seconds", 0)]
)
def test_unknown_settings_are_refused(key: str, value: Any) -> None:
    """A choice that does not exist is refused with those that do."""
    with pytest.raises(ValueError, match=key):
        VectorStoreSettings(**{key: value})
