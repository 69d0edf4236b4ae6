"""A layout that is kept, and may have changed since."""

from collections.abc import Awaitable, Callable

import pytest

from evidence_lookup.adapters import known_layout
from evidence_lookup.adapters.known_layout import KnownLayout, LayoutChangedError
from evidence_lookup.domain.errors import (
    BackendFailedError,
    BackendTimeoutError,
    DimensionMismatchError,
    EvidenceLookupError,
)
from evidence_lookup.domain.hit import KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.ports.knowledge_search import KnowledgeSearchResponse

Attempt = Callable[[str], Awaitable[KnowledgeSearchResponse]]
_SCORE = Score(1.0, ScoreSemantics.COSINE)


class Backend:
    """A collection with a layout, and what was asked of it."""

    def __init__(self, *, is_shared: bool = True) -> None:
        self.layout = "old"
        self.asked: list[str] = []
        self.known = KnownLayout(self._read, is_shared=is_shared)

    async def _read(self, _: str | None) -> str:
        self.asked.append("read")
        return self.layout

    def attempt(self, *outcomes: EvidenceLookupError | int) -> Attempt:
        """A search that raises or finds so many hits, in turn."""
        left = list(outcomes)

        async def attempt(layout: str) -> KnowledgeSearchResponse:
            self.asked.append(layout)
            outcome = left.pop(0)
            if isinstance(outcome, EvidenceLookupError):
                raise outcome
            hit = KnowledgeSearchHit("a", layout, _SCORE, {}, _SCORE, ())
            return KnowledgeSearchResponse((hit,) * outcome, SearchMode.DENSE, "path")

        return attempt


@pytest.fixture
async def backend() -> Backend:
    """One whose layout was read some time ago and has changed since."""
    made = Backend()
    await made.known.get()
    made.asked.clear()
    made.layout = "new"
    return made


_MISMATCH = DimensionMismatchError("", expected=3, actual=4)


@pytest.mark.parametrize(
    "sign", [0, _MISMATCH, BackendFailedError(), LayoutChangedError()], ids=repr
)
async def test_a_sign_of_another_layout(backend: Backend, sign: EvidenceLookupError | int) -> None:
    """A search that fails, finds nothing or meets other rows is run again by the new layout."""
    response = await backend.known.search(backend.attempt(sign, 1))
    assert [hit.content for hit in response.hits] == ["new"]
    assert backend.asked == ["old", "read", "new"]


async def test_the_same_layout_is_not_searched_twice(backend: Backend) -> None:
    """What fails or finds nothing by the layout of this moment is the answer."""
    backend.layout = "old"
    assert (await backend.known.search(backend.attempt(0))).hits == ()
    with pytest.raises(DimensionMismatchError):
        await backend.known.search(backend.attempt(_MISMATCH))
    assert backend.asked == ["old", "read"] * 2


async def test_a_fault_of_the_way_is_no_sign(backend: Backend) -> None:
    """Nothing more is asked of a backend that does not answer in time."""
    with pytest.raises(BackendTimeoutError):
        await backend.known.search(backend.attempt(BackendTimeoutError()))
    assert backend.asked == ["old"]


async def test_without_a_sign_it_is_read_from_time_to_time(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A collection that answers as before is known anew within seconds, not at each search."""
    assert (await backend.known.search(backend.attempt(1))).hits[0].content == "old"
    assert backend.asked == ["old"]
    monkeypatch.setattr(known_layout, "_SECONDS_BETWEEN_CHECKS", 0)
    assert (await backend.known.search(backend.attempt(1, 1))).hits[0].content == "new"
    assert backend.asked == ["old", "old", "read", "new"]


async def test_an_exchange_without_end_is_told(backend: Backend) -> None:
    """Where the collection is exchanged again meanwhile the caller may try again."""
    with pytest.raises(LayoutChangedError) as caught:
        await backend.known.search(backend.attempt(LayoutChangedError(), LayoutChangedError()))
    assert caught.value.retryable


async def test_nothing_found_is_no_sign_where_nobody_else_can_write() -> None:
    """A collection of this process alone is not asked for again after each empty answer."""
    backend = Backend(is_shared=False)
    for _ in range(2):
        assert (await backend.known.search(backend.attempt(0))).hits == ()
    assert backend.asked == ["read", "old", "old"]
