"""What every `KnowledgeSearchPort` promises, as a test suite for its adapters.

Subclass it in a test module and give `knowledge`; see `KnowledgeSearchContract`.
"""

import asyncio
import json
import time
from itertools import pairwise
from typing import Protocol

import numpy as np
import pytest
from attrs import evolve

from evidence_lookup.domain.errors import (
    CollectionMissingError,
    DimensionMismatchError,
    InvalidVectorError,
    ScopeError,
    UnsupportedModeError,
)
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.identity import identify
from evidence_lookup.domain.score import ScoreSemantics
from evidence_lookup.ports.knowledge_search import KnowledgeSearchPort, KnowledgeSearchRequest
from evidence_lookup.ports.knowledge_store import EmbeddedChunk, KnowledgeStore
from evidence_lookup.testing.knowledge_samples import DIMENSION, MODEL, asked, embedded, unit


class Knowledge(KnowledgeSearchPort, KnowledgeStore, Protocol):
    """Both sides of one knowledge base, which can be closed."""

    async def aclose(self) -> None:
        """Close it; closing twice is safe, and the next call opens it anew."""
        ...


def injections(count: int = 200) -> list[str]:
    """*count* values that try to leave a literal, without control characters; always the same."""
    openings = ['"', "'", '\\"', "\\", '")', "')", '"]', "`", "{x}", "%", ""]
    middles = [
        " or true or ", ' or tenant != "', " || 1 == 1 || ", ' or metadata["tenant"] != "',
        " or id != ''", "; drop", " and not exists ", ' in ["acme"] or "" == "', "acme",
    ]  # fmt: skip
    endings = ['"', "'", "(", "--", "", "\\", "\\\\", '\\"', "🙂", "中文"]
    made = [f"x{a}{b}{c}" for b in middles for c in endings for a in openings]
    return made[:: max(1, len(made) // count)][:count]


class KnowledgeSearchContract:
    """What every knowledge search promises; all tests run on an EMPTY, prepared collection."""

    modes: frozenset[SearchMode] = frozenset(SearchMode)
    """The modes that the adapter can run; the others must degrade to dense."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        """The event loop of the asynchronous tests."""
        return "asyncio"

    @pytest.fixture
    async def knowledge(self) -> Knowledge:
        """An EMPTY collection of `DIMENSION`, prepared for `MODEL`; every adapter gives its own."""
        raise NotImplementedError

    async def settle(self, knowledge: Knowledge) -> None:
        """Wait until writes can be read; most adapters need not."""

    async def found(self, knowledge: Knowledge, request: KnowledgeSearchRequest) -> list[str]:
        """The ids that a search gives, in order."""
        await self.settle(knowledge)
        return [str(hit.id) for hit in (await knowledge.search(request)).hits]

    async def test_nothing_stored_is_an_empty_answer(self, knowledge: Knowledge) -> None:
        """An empty collection gives no hits, and no error, in every mode."""
        for mode in SearchMode:
            assert (await knowledge.search(asked(mode=mode))).hits == ()

    async def test_C14_best_first(self, knowledge: Knowledge) -> None:
        """Hits come best first, whatever the order they were written in."""
        rows = {"far": unit(0, 1), "near": unit(1, 0.1), "same": unit(1), "opposite": unit(-1)}
        await knowledge.upsert([embedded(name, vector=vector) for name, vector in rows.items()])
        names = ["same", "near", "far", "opposite"]
        assert await self.found(knowledge, asked()) == [f"{name}#chunk-0" for name in names]

    async def test_R32_score_semantics(self, knowledge: Knowledge) -> None:
        """A dense score has the probed semantics, and falls along the list by its own direction."""
        await knowledge.upsert([embedded(f"d{n}", vector=unit(1, n)) for n in range(4)])
        await self.settle(knowledge)
        semantics = (await knowledge.probe()).semantics
        scores = [hit.score for hit in (await knowledge.search(asked())).hits]
        assert {score.semantics for score in scores} == {semantics}
        assert all(a.is_better_than(b) for a, b in pairwise(scores))
        assert scores[0].similarity == pytest.approx(1.0, abs=1e-4)
        assert scores[1].similarity == pytest.approx(2**-0.5, abs=1e-4)

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_equal_scores_are_ordered_by_id(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """Equal scores come in the order of ids, also where top_k cuts through them."""
        names = [f"d{n:02}" for n in range(40)]
        await knowledge.upsert([embedded(name, text="same words") for name in reversed(names)])
        for top_k in (1, 7, 40):
            request = asked("same words", mode=mode, top_k=top_k)
            assert await self.found(knowledge, request) == [f"{n}#chunk-0" for n in names[:top_k]]

    async def test_R01_identity(self, knowledge: Knowledge) -> None:
        """A hit's metadata names its document and chunk, with the index as a whole number."""
        await knowledge.upsert([embedded("guide", 12)])
        await self.settle(knowledge)
        (hit,) = (await knowledge.search(asked())).hits
        identity = identify(hit.metadata, hit_id=hit.id, original_rank=1)
        assert (identity.doc_id, identity.chunk_index) == ("guide", 12)
        assert identity.evidence_key == hit.id == "guide#chunk-12"

    async def test_a_hit_is_what_was_stored(self, knowledge: Knowledge) -> None:
        """Content and metadata come back as they were written, and nothing beside them."""
        one = embedded("d", 3, 'say "hi"\n\\n 麻婆 🙂\t', category="food", tenant="acme", level=3)
        await knowledge.replace_document("d", [one])
        await self.settle(knowledge)
        (hit,) = (await knowledge.search(asked())).hits
        assert hit.content == one.chunk.content
        assert dict(hit.metadata) == one.chunk.metadata()

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_found_by_names_lists_and_ranks(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """Each hit names the lists that held it, with ranks from 1, and its dense similarity."""
        await knowledge.upsert(
            [embedded("a", text="alpha", vector=unit(1)), embedded("b", text="beta word")]
        )
        await self.settle(knowledge)
        response = await knowledge.search(asked("beta", mode=mode))
        assert response.hits
        for hit in response.hits:
            assert hit.found_by
            assert all(found.rank >= 1 for found in hit.found_by)
            assert hit.similarity_score is not None
            assert hit.similarity_score.similarity == pytest.approx(1.0, abs=1e-4)
            if response.mode is not SearchMode.HYBRID:
                assert {found.mode for found in hit.found_by} == {response.mode}

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_C48_a_missing_mode_runs_as_dense(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """A mode that the backend lacks runs as dense and says so; others run as asked."""
        await knowledge.upsert([embedded("a")])
        await self.settle(knowledge)
        response = await knowledge.search(asked(mode=mode))
        can = mode in self.modes
        assert (await knowledge.probe()).modes == self.modes
        assert response.mode is (mode if can else SearchMode.DENSE)
        assert response.degraded == (() if can else (f"{mode}_unavailable",))
        assert len(response.hits) == 1

    async def test_C25_keyword_scores_are_not_negative(self, knowledge: Knowledge) -> None:
        """Keyword scores are BM25 from 0, higher is better."""
        if SearchMode.KEYWORD not in self.modes:
            return
        await knowledge.upsert(
            [embedded("a", text="redis timeout"), embedded("b", text="redis cluster nodes")]
        )
        await self.settle(knowledge)
        hits = (await knowledge.search(asked("redis timeout", mode=SearchMode.KEYWORD))).hits
        assert [hit.id for hit in hits] == ["a#chunk-0", "b#chunk-0"]
        assert all(hit.score.semantics is ScoreSemantics.BM25 for hit in hits)
        assert all((hit.score.value or 0) > 0 for hit in hits)

    @pytest.mark.parametrize(
        ("query", "text"),
        [
            ("豆腐", "麻婆豆腐的做法"),
            ("서울", "서울에서 만나요"),
            ("Timeout", "redis TIMEOUT errors"),
            ("redis_max_retries", "set REDIS_MAX_RETRIES to 5"),
        ],
    )
    async def test_C52_words_are_found(self, knowledge: Knowledge, query: str, text: str) -> None:
        """A keyword search finds terms inside CJK runs, and words in any letter case."""
        if SearchMode.KEYWORD not in self.modes:
            return
        await knowledge.upsert([embedded("hit", text=text), embedded("other", text="unrelated")])
        found = await self.found(knowledge, asked(query, mode=SearchMode.KEYWORD))
        assert found == ["hit#chunk-0"]

    @pytest.mark.parametrize("query", ["", "   ", "!!!", "。，？", "\n\t", "zzzunknown"])
    async def test_no_words_no_keyword_hits(self, knowledge: Knowledge, query: str) -> None:
        """A query without words, or with none that is there, has no keyword hits and no error."""
        if SearchMode.KEYWORD not in self.modes:
            return
        await knowledge.upsert([embedded("a", text="some words! really, yes.")])
        assert await self.found(knowledge, asked(query, mode=SearchMode.KEYWORD)) == []

    async def test_keyword_needs_no_vector(self, knowledge: Knowledge) -> None:
        """Without a vector the keyword mode runs, and no other one does."""
        await knowledge.upsert([embedded("a", text="words here")])
        await self.settle(knowledge)
        for mode in SearchMode:
            request = KnowledgeSearchRequest(query="words", vector=None, top_k=3, mode=mode)
            if mode is SearchMode.KEYWORD and mode in self.modes:
                (hit,) = (await knowledge.search(request)).hits
                assert hit.similarity_score is None
            else:
                with pytest.raises(UnsupportedModeError):
                    await knowledge.search(request)

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_C35_no_foreign_row(self, knowledge: Knowledge, mode: SearchMode) -> None:
        """No mode returns a row of another tenant, even where it is the best match of all."""
        await knowledge.upsert(
            [
                embedded("foreign", text="redis timeout", vector=unit(1), tenant="other"),
                embedded("nobody", text="redis timeout", vector=unit(1)),
                embedded("own", text="a redis", vector=unit(0.2, 1), tenant="acme"),
            ]
        )
        scope = Scope({"tenant": "acme"})
        found = await self.found(knowledge, asked("redis timeout", mode=mode, scope=scope))
        assert found == ["own#chunk-0"]

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_filters_do_not_eat_into_top_k(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """A filter narrows the search itself: rows in scope come, however many stand before."""
        foreign = [embedded(f"f{n}", text="redis", tenant="other") for n in range(60)]
        own = [embedded(f"o{n}", text="redis", vector=unit(0, 1), tenant="acme") for n in range(3)]
        await knowledge.upsert([*foreign, *own])
        request = asked("redis", mode=mode, top_k=3, scope=Scope({"tenant": "acme"}))
        assert await self.found(knowledge, request) == [f"o{n}#chunk-0" for n in range(3)]

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_hint_filter(self, knowledge: Knowledge, mode: SearchMode) -> None:
        """The hint filter keeps one category, together with the scope."""
        await knowledge.upsert(
            [
                embedded("a", text="redis", category="ops", tenant="acme"),
                embedded("b", text="redis", category="food", tenant="acme"),
                embedded("c", text="redis", category="ops", tenant="other"),
                embedded("d", text="redis", tenant="acme"),
            ]
        )
        scope = Scope({"tenant": "acme"})
        request = asked("redis", mode=mode, scope=scope, category="ops")
        assert await self.found(knowledge, request) == ["a#chunk-0"]
        assert await self.found(knowledge, asked("redis", mode=mode, category="none")) == []

    async def test_C33_lists_and_several_names(self, knowledge: Knowledge) -> None:
        """A list matches any of its values, one alone too, and several names must all match."""
        await knowledge.upsert(
            [
                embedded("a", tenant="x", level=1),
                embedded("b", tenant="y", level=1),
                embedded("c", tenant="z", level=1),
                embedded("d", tenant="x", level=2),
            ]
        )
        for scope, names in (
            (Scope({"tenant": ("x", "y")}), "abd"),
            (Scope({"tenant": ("x",)}), "ad"),
            (Scope({"tenant": ("x", "y"), "level": (1, 3)}), "ab"),
        ):
            found = await self.found(knowledge, asked(scope=scope))
            assert found == [f"{name}#chunk-0" for name in names]

    async def test_long_lists(self, knowledge: Knowledge) -> None:
        """A list of 500 values, such as a long access list, matches like a short one."""
        await knowledge.upsert([embedded(f"d{n}", team=f"t{n}") for n in range(3)])
        values = tuple(f"t{n}" for n in range(1, 501))
        found = await self.found(knowledge, asked(scope=Scope({"team": values})))
        assert found == ["d1#chunk-0", "d2#chunk-0"]

    @pytest.mark.parametrize("wanted", [1, "1", True, 0, False, "True", "true"])
    async def test_types_are_told_apart(
        self, knowledge: Knowledge, wanted: str | int | bool
    ) -> None:
        """A whole number, its text and a boolean are three values."""
        values: list[str | int | bool] = [1, "1", True, 0, False, "True", "true"]
        await knowledge.upsert([embedded(f"d{n}", plan=value) for n, value in enumerate(values)])
        place = next(
            n for n, one in enumerate(values) if type(one) is type(wanted) and one == wanted
        )
        found = await self.found(knowledge, asked(scope=Scope({"plan": wanted})))
        assert found == [f"d{place}#chunk-0"]

    @pytest.mark.parametrize(
        "value",
        ['say "hi"', "it's", "back\\slash", "trail\\", "中文", "🙂👩‍👩‍👧", 'a\\"b', "%", "a b"],
    )
    async def test_C32_odd_values_match_themselves(self, knowledge: Knowledge, value: str) -> None:
        """Quotes, backslashes, unicode and emoji match exactly themselves."""
        await knowledge.upsert(
            [
                embedded("same", category=value, tenant=value),
                embedded("longer", category=value + "x", tenant=value + "x"),
            ]
        )
        assert await self.found(knowledge, asked(scope=Scope({"tenant": value}))) == [
            "same#chunk-0"
        ]
        assert await self.found(knowledge, asked(category=value)) == ["same#chunk-0"]

    async def test_control_characters_are_refused(self, knowledge: Knowledge) -> None:
        """A scope value with a line end or another control character never reaches the backend."""
        for value in ("a\nb", "a\x00b", "\x01", "\ud800"):
            with pytest.raises(ScopeError):
                Scope({"tenant": value})

    async def test_C28_no_value_widens(self, knowledge: Knowledge) -> None:
        """None of 200 expression fragments finds a row that does not hold that very value."""
        await knowledge.upsert(
            [embedded("a", tenant="acme", category="acme"), embedded("b", tenant="other")]
        )
        await self.settle(knowledge)
        for value in injections():
            if not value.strip():
                continue
            scoped = await knowledge.search(asked(scope=Scope({"tenant": value})))
            listed = await knowledge.search(asked(scope=Scope({"tenant": (value, value + "x")})))
            hinted = await knowledge.search(asked(category=value))
            assert (scoped.hits, listed.hits, hinted.hits) == ((), (), ()), value

    async def test_C29_no_name_widens(self, knowledge: Knowledge) -> None:
        """A name that would leave its place in an expression is refused."""
        for name in ('tenant"] != "" or metadata["x', "", "a b", "a'", "1a", "a" * 65, "ü"):
            with pytest.raises(ScopeError):
                Scope({name: "x"})

    async def test_names_with_marks(self, knowledge: Knowledge) -> None:
        """Dots and dashes in a name are part of it."""
        odd: dict[str, str | int | bool] = {"team.name": "x", "access-list": "y"}
        chunk = evolve(embedded("a").chunk, scope=odd)
        await knowledge.upsert([EmbeddedChunk(chunk, unit(1)), embedded("b", team="x")])
        for name, value in odd.items():
            assert await self.found(knowledge, asked(scope=Scope({name: value}))) == ["a#chunk-0"]

    async def test_limits_at_the_edges(self, knowledge: Knowledge) -> None:
        """top_k may be 1, more than there is, or the most the backend takes."""
        await knowledge.upsert([embedded(f"d{n}", vector=unit(1, n)) for n in range(3)])
        most = (await knowledge.probe()).max_top_k
        for top_k, count in ((1, 1), (3, 3), (4, 3), (most, 3)):
            for mode in (SearchMode.DENSE, SearchMode.HYBRID):
                assert len(await self.found(knowledge, asked(top_k=top_k, mode=mode))) == count

    @pytest.mark.parametrize("mode", SearchMode)
    @pytest.mark.parametrize("value", [0.0, float("nan"), float("inf"), -float("inf")])
    async def test_C26_vectors_without_direction(
        self, knowledge: Knowledge, value: float, mode: SearchMode
    ) -> None:
        """A zero, NaN or infinite query vector is refused before the backend sees it."""
        vector = np.full(DIMENSION, value, dtype=np.float32)
        with pytest.raises(InvalidVectorError):
            await knowledge.search(asked(vector=vector, mode=mode))

    async def test_C42_wrong_dimension(self, knowledge: Knowledge) -> None:
        """A query vector of another dimension is refused with both numbers."""
        with pytest.raises(DimensionMismatchError, match=r"3 dimensions.*4") as caught:
            await knowledge.search(asked(vector=np.ones(3, dtype=np.float32)))
        assert (caught.value.expected, caught.value.actual) == (4, 3)

    async def test_C67_missing_collection(self, knowledge: Knowledge) -> None:
        """A collection that is not there is an error of its own, never an empty answer."""
        await knowledge.drop()
        await knowledge.drop()
        with pytest.raises(CollectionMissingError):
            await knowledge.search(asked())
        with pytest.raises(CollectionMissingError):
            await knowledge.probe()
        with pytest.raises(CollectionMissingError):
            await knowledge.upsert([embedded("a")])
        await knowledge.prepare(model=MODEL, dimension=DIMENSION)
        assert await self.found(knowledge, asked()) == []

    async def test_probe(self, knowledge: Knowledge) -> None:
        """The probe tells the dimension and the model of the collection, and its bounds."""
        capabilities = await knowledge.probe()
        assert capabilities.dimension == DIMENSION
        assert capabilities.embedder == MODEL
        assert capabilities.max_top_k >= 1_000
        assert capabilities.max_query_characters >= 1_000
        assert capabilities.path

    async def test_C54_long_query(self, knowledge: Knowledge) -> None:
        """A query of 50 kB is answered in every mode."""
        await knowledge.upsert([embedded("a", text="redis timeout")])
        query = "redis timeout 豆腐 " * 3_000
        for mode in SearchMode:
            assert await self.found(knowledge, asked(query, mode=mode)) == ["a#chunk-0"]

    @pytest.mark.parametrize(
        "query", ['")', "' or 1==1", "a\x00b", "{}[]", "\\", "🙂", "\ud800x", "中" * 9_000]
    )
    async def test_odd_queries(self, knowledge: Knowledge, query: str) -> None:
        """No text of a query is an error, in any mode, and the vector finds what it finds."""
        await knowledge.upsert([embedded("a")])
        await self.settle(knowledge)
        for mode in SearchMode:
            hits = (await knowledge.search(asked(query, mode=mode))).hits
            assert mode is SearchMode.KEYWORD or [hit.id for hit in hits] == ["a#chunk-0"]

    async def test_same_request_same_answer(self, knowledge: Knowledge) -> None:
        """Asking twice gives the same response, and the request is left as it was."""
        await knowledge.upsert([embedded(f"d{n}", vector=unit(1, n)) for n in range(9)])
        await self.settle(knowledge)
        vector = unit(1)
        for mode in SearchMode:
            request = asked(vector=vector, mode=mode)
            assert await knowledge.search(request) == await knowledge.search(request)
        assert vector.tolist() == unit(1).tolist()

    async def test_numbers_are_json(self, knowledge: Knowledge) -> None:
        """Scores and metadata are plain values that JSON can hold, without NaN."""
        await knowledge.upsert([embedded("a", level=2)])
        await self.settle(knowledge)
        (hit,) = (await knowledge.search(asked(mode=SearchMode.HYBRID))).hits
        json.dumps([hit.score.value, dict(hit.metadata)], allow_nan=False)

    async def test_C47_searches_do_not_block_the_loop(self, knowledge: Knowledge) -> None:
        """While 20 searches run at once, the event loop keeps ticking."""
        await knowledge.upsert([embedded(f"d{n}", vector=unit(1, n)) for n in range(50)])
        await self.settle(knowledge)
        await knowledge.search(asked())
        longest, stop = 0.0, asyncio.Event()

        async def heartbeat() -> None:
            nonlocal longest
            while not stop.is_set():
                before = time.perf_counter()
                await asyncio.sleep(0.005)
                longest = max(longest, time.perf_counter() - before)

        beat = asyncio.create_task(heartbeat())
        responses = await asyncio.gather(
            *(knowledge.search(asked(mode=SearchMode.HYBRID)) for _ in range(20))
        )
        stop.set()
        await beat
        assert all(len(response.hits) == 10 for response in responses)
        assert longest < 0.5

    async def test_cancelled_search_harms_nothing(self, knowledge: Knowledge) -> None:
        """A search that is cancelled leaves the knowledge usable."""
        await knowledge.upsert([embedded("a")])
        await self.settle(knowledge)
        for delay in (0, 0, 0.001, 0.003):
            task = asyncio.create_task(knowledge.search(asked(mode=SearchMode.HYBRID)))
            await asyncio.sleep(delay)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        assert await self.found(knowledge, asked()) == ["a#chunk-0"]

    async def test_closed_twice(self, knowledge: Knowledge) -> None:
        """Closing twice is safe, and the next call opens it anew, with all that was written."""
        await knowledge.upsert([embedded("a")])
        await knowledge.aclose()
        await knowledge.aclose()
        assert await self.found(knowledge, asked()) == ["a#chunk-0"]
