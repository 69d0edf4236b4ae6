"""Order, ties, scores and what each mode finds."""

import json
from itertools import pairwise

import pytest
from attrs import evolve

from evidence_lookup.domain.errors import UnsupportedModeError
from evidence_lookup.domain.hit import FoundBy, SearchMode
from evidence_lookup.domain.score import ScoreSemantics
from evidence_lookup.ports.knowledge_search import KnowledgeSearchRequest
from evidence_lookup.testing.knowledge_contract import Knowledge, KnowledgeContract
from evidence_lookup.testing.knowledge_samples import asked, embedded, unit

_BY_METRIC = {
    ScoreSemantics.COSINE: (1.0, 0.8, 0.0, -1.0),
    ScoreSemantics.INNER_PRODUCT: (1.0, 0.8, 0.0, -1.0),
    ScoreSemantics.L2_SQUARED: (0.0, 0.4, 2.0, 4.0),
}
"""The scores of the same direction, of one with a cosine of 0.8, a right angle, the opposite."""


class SearchRankingContract(KnowledgeContract):
    """Best first by the score's own direction, ties by id, and each score says what it means."""

    async def test_nothing_stored_is_an_empty_answer(self, knowledge: Knowledge) -> None:
        """An empty collection gives no hits, and no error, in every mode."""
        for mode in SearchMode:
            assert await self.found(knowledge, asked(mode=mode)) == []

    async def test_C14_best_first(self, knowledge: Knowledge) -> None:
        """Hits come best first, whatever the order they were written in."""
        rows = {"far": unit(0, 1), "near": unit(1, 0.1), "same": unit(1), "opposite": unit(-1)}
        await knowledge.upsert([embedded(name, vector=vector) for name, vector in rows.items()])
        names = ["same", "near", "far", "opposite"]
        assert await self.found(knowledge, asked()) == [f"{name}#chunk-0" for name in names]

    async def test_R32_score_semantics(self, knowledge: Knowledge) -> None:
        """A dense score has the probed semantics, and falls along the list by its own direction."""
        await knowledge.upsert([embedded(f"d{n}", vector=unit(1, n)) for n in range(4)])
        semantics = (await knowledge.probe()).semantics
        scores = [hit.score for hit in (await self.ask(knowledge, asked())).hits]
        assert {score.semantics for score in scores} == {semantics}
        assert all(a.is_better_than(b) for a, b in pairwise(scores))
        assert scores[0].similarity == pytest.approx(1.0, abs=1e-4)
        assert scores[1].similarity == pytest.approx(2**-0.5, abs=1e-4)

    async def test_C13_scores_are_what_their_semantics_say(self, knowledge: Knowledge) -> None:
        """Cosine, inner product and squared distance of known directions are the true numbers."""
        vectors = (unit(1), unit(0.8, 0.6), unit(0, 1), unit(-1))
        await knowledge.upsert([embedded(f"d{n}", vector=one) for n, one in enumerate(vectors)])
        semantics = (await knowledge.probe()).semantics
        hits = (await self.ask(knowledge, asked())).hits
        assert [hit.id for hit in hits] == [f"d{n}#chunk-0" for n in range(4)]
        expected = _BY_METRIC.get(semantics)
        if expected is None:
            assert all(0.0 <= (hit.score.value or 0.0) <= 1.0 for hit in hits)
        else:
            assert [hit.score.value for hit in hits] == pytest.approx(expected, abs=1e-4)

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_R33_R34_one_semantics(self, knowledge: Knowledge, mode: SearchMode) -> None:
        """All scores of a response mean one thing, and all similarities what the probe says."""
        await knowledge.upsert(
            [embedded(f"d{n}", text=f"word{n} text", vector=unit(1, n)) for n in range(5)]
        )
        semantics = (await knowledge.probe()).semantics
        assert semantics in self.semantics
        response = await self.ask(knowledge, asked("word1 text", mode=mode))
        similarities = {
            hit.similarity_score.semantics for hit in response.hits if hit.similarity_score
        }
        assert similarities == {semantics}
        assert len({hit.score.semantics for hit in response.hits}) == 1
        assert (response.hits[0].score.semantics is semantics) is (
            response.mode is SearchMode.DENSE
        )

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_R12_equal_scores_are_ordered_by_id(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """Equal scores come in the order of ids, also where top_k cuts through them."""
        names = [f"d{n:02}" for n in range(40)]
        await knowledge.upsert([embedded(name, text="same words") for name in reversed(names)])
        for top_k in (1, 7, 40):
            request = asked("same words", mode=mode, top_k=top_k)
            assert await self.found(knowledge, request) == [f"{n}#chunk-0" for n in names[:top_k]]

    @pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
    async def test_R12_ties_across_two_lists(
        self, knowledge: Knowledge, names: tuple[str, str]
    ) -> None:
        """Two chunks, each first in one list and second in the other, come in the order of ids."""
        self.needs(SearchMode.HYBRID)
        nearest, by_words = names
        await knowledge.upsert(
            [
                embedded(nearest, text="redis and a good many words beside it", vector=unit(1)),
                embedded(by_words, text="redis", vector=unit(1, 1)),
            ]
        )
        hits = (await self.ask(knowledge, asked("redis", mode=SearchMode.HYBRID))).hits
        assert [hit.id for hit in hits] == ["a#chunk-0", "b#chunk-0"]
        found = {str(hit.id)[0]: {one.mode: one.rank for one in hit.found_by} for hit in hits}
        assert found[nearest] == {SearchMode.DENSE: 1, SearchMode.KEYWORD: 2}
        assert found[by_words] == {SearchMode.DENSE: 2, SearchMode.KEYWORD: 1}

    async def test_hybrid_ranks_are_those_of_its_lists(self, knowledge: Knowledge) -> None:
        """The ranks that a hybrid hit names are its places in the two searches by themselves."""
        self.needs(SearchMode.HYBRID)
        await knowledge.upsert(
            [
                embedded(
                    f"d{n:02}", text="redis " * (1 + n % 5) + f"w{n}", vector=unit(1, n % 7, n % 3)
                )
                for n in range(20)
            ]
        )
        places: dict[str, set[FoundBy]] = {}
        for mode in (SearchMode.DENSE, SearchMode.KEYWORD):
            request = asked("redis", mode=mode, top_k=30)
            for rank, name in enumerate(await self.found(knowledge, request), start=1):
                places.setdefault(name, set()).add(FoundBy(mode, rank))
        hits = (await self.ask(knowledge, asked("redis", mode=SearchMode.HYBRID, top_k=30))).hits
        assert {str(hit.id): set(hit.found_by) for hit in hits} == places

    async def test_hybrid_holds_what_one_list_alone_has(self, knowledge: Knowledge) -> None:
        """The best chunk by words is found though its vector is the farthest of all."""
        self.needs(SearchMode.HYBRID)
        near = [embedded(f"n{n:02}", text="other", vector=unit(1, n / 100)) for n in range(60)]
        await knowledge.upsert([*near, embedded("word", text="redis", vector=unit(-1))])
        request = asked("redis", mode=SearchMode.HYBRID, top_k=3)
        assert "word#chunk-0" in await self.found(knowledge, request)

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_found_by_names_lists_and_ranks(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """Each hit names the lists that held it, with ranks from 1, and its dense similarity."""
        await knowledge.upsert(
            [embedded("a", text="alpha", vector=unit(1)), embedded("b", text="beta word")]
        )
        response = await self.ask(knowledge, asked("beta", mode=mode))
        assert response.hits
        for hit in response.hits:
            assert hit.similarity_score is not None
            assert hit.similarity_score.similarity == pytest.approx(1.0, abs=1e-4)

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_C48_a_missing_mode_runs_as_dense(
        self, knowledge: Knowledge, mode: SearchMode
    ) -> None:
        """A mode that the backend lacks runs as dense and says so; others run as asked."""
        await knowledge.upsert([embedded("a")])
        response = await self.ask(knowledge, asked(mode=mode))
        can = mode in self.modes
        assert (await knowledge.probe()).modes == self.modes
        assert response.mode is (mode if can else SearchMode.DENSE)
        assert response.degraded == (() if can else (f"{mode}_unavailable",))
        assert len(response.hits) == 1

    async def test_C25_keyword_scores_are_not_negative(self, knowledge: Knowledge) -> None:
        """Keyword scores are BM25 from 0, higher is better."""
        self.needs(SearchMode.KEYWORD)
        await knowledge.upsert(
            [embedded("a", text="redis timeout"), embedded("b", text="redis cluster nodes")]
        )
        request = asked("redis timeout", mode=SearchMode.KEYWORD)
        hits = (await self.ask(knowledge, request)).hits
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
        self.needs(SearchMode.KEYWORD)
        await knowledge.upsert([embedded("hit", text=text), embedded("other", text="unrelated")])
        found = await self.found(knowledge, asked(query, mode=SearchMode.KEYWORD))
        assert found == ["hit#chunk-0"]

    @pytest.mark.parametrize("query", ["", "   ", "!!!", "。，？", "\n\t", "zzzunknown"])
    async def test_no_words_no_keyword_hits(self, knowledge: Knowledge, query: str) -> None:
        """A query without words, or with none that is there, has no keyword hits and no error."""
        self.needs(SearchMode.KEYWORD)
        await knowledge.upsert([embedded("a", text="some words! really, yes.")])
        assert await self.found(knowledge, asked(query, mode=SearchMode.KEYWORD)) == []

    async def test_keyword_needs_no_vector(self, knowledge: Knowledge) -> None:
        """Without a vector the keyword mode runs, and no other one does."""
        await knowledge.upsert([embedded("a", text="words here")])
        for mode in SearchMode:
            request = KnowledgeSearchRequest(query="words", vector=None, top_k=3, mode=mode)
            if mode is SearchMode.KEYWORD and mode in self.modes:
                (hit,) = (await self.ask(knowledge, request)).hits
                assert hit.similarity_score is None
            else:
                with pytest.raises(UnsupportedModeError):
                    await knowledge.search(request)

    async def test_R57_same_request_same_answer(self, knowledge: Knowledge) -> None:
        """Asking twice gives the same response, and the request is left as it was."""
        await knowledge.upsert([embedded(f"d{n}", vector=unit(1, n)) for n in range(9)])
        vector = unit(1)
        for mode in SearchMode:
            request = asked(vector=vector, mode=mode)
            assert await self.ask(knowledge, request) == await self.ask(knowledge, request)
        assert vector.tolist() == unit(1).tolist()

    async def test_R57_new_rows_do_not_change_the_order_of_others(
        self, knowledge: Knowledge
    ) -> None:
        """Two chunks keep their order and their dense scores when others are written."""
        await knowledge.upsert([embedded("a", vector=unit(1, 1)), embedded("b", vector=unit(1, 2))])
        before = (await self.ask(knowledge, asked())).hits
        await knowledge.upsert([embedded(f"c{n}", vector=unit(1, 9)) for n in range(30)])
        after = (await self.ask(knowledge, asked(top_k=2))).hits
        assert [hit.id for hit in before] == [hit.id for hit in after] == ["a#chunk-0", "b#chunk-0"]
        values = [hit.score.value for hit in before]
        assert [hit.score.value for hit in after] == pytest.approx(values, abs=1e-5)

    @pytest.mark.parametrize("mode", SearchMode)
    async def test_numbers_are_json(self, knowledge: Knowledge, mode: SearchMode) -> None:
        """Scores and metadata are plain values that JSON can hold, without NaN, and stay apart."""
        await knowledge.upsert([embedded("a", level=2, open=True)])
        (hit,) = (await self.ask(knowledge, asked(mode=mode))).hits
        metadata = dict(hit.metadata)
        assert json.loads(json.dumps(metadata, allow_nan=False)) == metadata
        assert type(hit.score.value) is float
        assert (type(metadata["level"]), type(metadata["open"])) == (int, bool)

    async def test_a_hit_belongs_to_its_caller(self, knowledge: Knowledge) -> None:
        """What a caller does to a hit's metadata is not seen by the next search."""
        chunk = evolve(embedded("a").chunk, keywords=("one", "two"))
        await knowledge.upsert([evolve(embedded("a"), chunk=chunk)])
        (hit,) = (await self.ask(knowledge, asked())).hits
        metadata = hit.metadata
        assert isinstance(metadata, dict)
        metadata["keywords"].append("three")
        metadata.clear()
        (again,) = (await self.ask(knowledge, asked())).hits
        assert dict(again.metadata) == chunk.metadata()
