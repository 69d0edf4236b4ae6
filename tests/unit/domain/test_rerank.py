"""Reranking: deterministic rules with reasons (R12, R18, R35)."""

import math

import pytest
from tests.unit.domain.samples import NO_HINTS, hit, keys, ranked

from evidence_lookup.domain.candidate import candidates_from
from evidence_lookup.domain.hints import QueryHints
from evidence_lookup.domain.hit import FoundBy, KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.rerank import DEFAULT_RULES, Boost, RankedCandidate, rerank
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.domain.trace import rerank_trace

HINTS = QueryHints(
    matched_titles=("Redis Sentinel",),
    matched_keywords=("Redis", "failover", "数据库", "quorum"),
    domains=("databases",),
    entities=("sentinel-1", "sentinel-2", "sentinel-3", "sentinel-4"),
)


def boosts(one: KnowledgeSearchHit, hints: QueryHints = HINTS) -> list[tuple[str, float, str]]:
    """What the rules add to a single hit."""
    (found,) = rerank(candidates_from([one]), hints)
    return [(boost.rule, boost.amount, boost.reason) for boost in found.boosts]


def test_R12_equal_scores_stand_in_the_ports_order() -> None:
    """Ties keep the original order, whatever the keys are."""
    found = ranked(hit("z", 0, 0.5), hit("a", 0, 0.5), hit("m", 0, 0.9), hit("b", 0, 0.5))
    assert keys(found) == ["m#chunk-0", "z#chunk-0", "a#chunk-0", "b#chunk-0"]
    assert [one.candidate.original_rank for one in found] == [3, 1, 2, 4]


def test_R12_all_equal_scores_have_one_base() -> None:
    """Without any spread every base is 1, and the port's order stands."""
    found = ranked(*(hit(name, 0, 0.5) for name in "cab"))
    assert [one.base for one in found] == [1.0, 1.0, 1.0]
    assert keys(found) == ["c#chunk-0", "a#chunk-0", "b#chunk-0"]


def test_R35_the_base_is_the_score_over_the_candidates_spread() -> None:
    """The best is 1, the worst 0, and distances between are kept."""
    found = ranked(hit("a", 0, 0.9), hit("b", 0, 0.8), hit("c", 0, 0.5))
    assert [one.base for one in found] == pytest.approx([1.0, 0.75, 0.0])


def test_R35_the_base_of_a_distance_is_better_when_lower() -> None:
    """L2 hits are ranked by nearness, however the port ordered them."""
    distances = {"far": 2.0, "near": 0.0, "mid": 0.5}
    found = ranked(*(hit(k, 0, Score(d, ScoreSemantics.L2_SQUARED)) for k, d in distances.items()))
    assert keys(found) == ["near#chunk-0", "mid#chunk-0", "far#chunk-0"]
    assert [one.base for one in found] == pytest.approx([1.0, 0.75, 0.0])


def test_R35_a_foreign_score_makes_the_rank_the_base() -> None:
    """Raw numbers of different semantics are not compared: the port's order counts."""
    bm25 = Score(0.99, ScoreSemantics.BM25)
    found = ranked(hit("a", 0, 0.1), hit("b", 0, bm25), hit("c", 0, 0.9), hit("d", 0, 0.2))
    assert keys(found) == ["a#chunk-0", "b#chunk-0", "c#chunk-0", "d#chunk-0"]
    assert [one.base for one in found] == [1.0, 0.75, 0.5, 0.25]


def test_C26_a_missing_score_stands_behind_every_number() -> None:
    """NaN or none counts as the worst, even where the port had it first."""
    found = ranked(
        hit("nan", 0, math.nan), hit("b", 0, 0.1), hit("none", 0, None), hit("a", 0, 0.6)
    )
    assert keys(found) == ["a#chunk-0", "b#chunk-0", "nan#chunk-0", "none#chunk-0"]
    assert [one.base for one in found] == [1.0, 0.0, 0.0, 0.0]
    lone = ranked(hit("nan", 0, math.nan), hit("a", 0, 0.5))
    assert [(key, one.base) for key, one in zip(keys(lone), lone, strict=True)] == [
        ("a#chunk-0", 1.0),
        ("nan#chunk-0", 0.0),
    ]


def test_R35_a_spread_that_overflows_is_no_spread() -> None:
    """Scores whose difference is infinite keep the port's order and give no NaN."""
    bm25 = ScoreSemantics.BM25
    found = ranked(hit("a", 0, Score(-1e308, bm25)), hit("b", 0, Score(1e308, bm25)))
    assert [one.base for one in found] == [1.0, 1.0]
    assert keys(found) == ["a#chunk-0", "b#chunk-0"]


def test_R35_nothing_is_reranked_to_nothing() -> None:
    """No candidates, no result."""
    assert rerank((), HINTS) == ()


def test_R35_the_trace_tells_rank_base_and_every_boost() -> None:
    """Each entry has final rank, key, source, base score and boosts that add up."""
    hits = [
        hit("plain", 0, 0.9, source="plain.md"),
        hit("hinted", 2, 0.85, title="Redis Sentinel", category="databases"),
        hit("last", 0, 0.4),
    ]
    first, second, third = rerank_trace(rerank(candidates_from(hits), HINTS))
    assert (first.final_rank, first.evidence_key, first.source) == (1, "hinted#chunk-2", "hinted")
    assert first.base_score == hits[1].score
    assert first.base == pytest.approx(0.9)
    assert first.boosts == (
        Boost("title_match", 0.15, "title:Redis Sentinel"),
        Boost("category_match", 0.05, "category:databases"),
    )
    assert first.ranking_score == pytest.approx(1.1)
    assert (second.final_rank, second.source, second.boosts) == (2, "plain.md", ())
    assert second.ranking_score == second.base == 1.0
    assert (third.final_rank, third.ranking_score) == (3, 0.0)


def test_R35_equal_input_gives_equal_output() -> None:
    """The rules have no state: a second run is the same."""
    hits = [hit(f"d{n}", n, n / 7 % 1, content="redis failover" * (n % 3)) for n in range(20)]
    assert rerank(candidates_from(hits), HINTS) == rerank(candidates_from(hits), HINTS)


def test_R18_a_keyword_in_metadata_or_content_lifts_and_is_a_reason() -> None:
    """Listed keywords and whole words of the content count, in any case."""
    assert boosts(hit(keywords=["REDIS"])) == [("keyword_match", 0.1, "keyword:Redis")]
    assert boosts(hit(content="The redis.")) == [("keyword_match", 0.1, "keyword:Redis")]
    assert boosts(hit(content="麻烦的数据库连接")) == [("keyword_match", 0.1, "keyword:数据库")]
    assert boosts(hit(content="predis redistribution")) == []
    assert boosts(hit(content="predis, then redis")) == [("keyword_match", 0.1, "keyword:Redis")]


def test_R18_an_entity_in_metadata_or_content_lifts_and_is_a_reason() -> None:
    """Listed entities and whole words of the content count."""
    expected = [("entity_match", 0.1, "entity:sentinel-1")]
    assert boosts(hit(entities=["Sentinel-1"])) == expected
    assert boosts(hit(entities="sentinel-1")) == expected
    assert boosts(hit(content="on sentinel-1:26379")) == expected
    assert boosts(hit(content="on sentinel-10")) == []


def test_R18_a_title_and_a_category_must_be_the_hints_own() -> None:
    """Title and category count when they are equal to a hint's."""
    assert boosts(hit(title="Redis Sentinel")) == [("title_match", 0.15, "title:Redis Sentinel")]
    assert boosts(hit(category="databases")) == [("category_match", 0.05, "category:databases")]
    assert boosts(hit(title="Redis", category="network")) == []
    assert boosts(hit(title=" ", category="")) == []


def test_R18_at_most_three_keywords_and_three_entities_lift() -> None:
    """A page full of terms does not outrun everything: the first three of each kind count."""
    content = "redis failover 数据库 quorum sentinel-1 sentinel-2 sentinel-3 sentinel-4"
    assert [reason for _, _, reason in boosts(hit(content=content))] == [
        "keyword:Redis",
        "keyword:failover",
        "keyword:数据库",
        "entity:sentinel-1",
        "entity:sentinel-2",
        "entity:sentinel-3",
    ]


def test_R18_no_hints_no_boosts() -> None:
    """Without hints nothing is lifted."""
    one = hit(content="redis", title="Redis Sentinel", category="databases")
    assert boosts(one, NO_HINTS) == []


def test_R18_a_hint_lifts_past_a_near_score_only() -> None:
    """A boost moves a candidate by its share of the spread, not to the top at any distance."""
    near = [hit("a", 0, 0.9), hit("b", 0, 0.88, content="redis"), hit("c", 0, 0.5)]
    far = [hit("a", 0, 0.9), hit("b", 0, 0.6, content="redis"), hit("c", 0, 0.5)]
    assert keys(rerank(candidates_from(near), HINTS))[0] == "b#chunk-0"
    assert keys(rerank(candidates_from(far), HINTS))[0] == "a#chunk-0"


def test_R18_hit_reasons_name_lists_then_hints_then_duplicates_once() -> None:
    """The order is where it was found, what lifted it, what its duplicates add."""
    found_by = (FoundBy(SearchMode.DENSE, 1), FoundBy(SearchMode.KEYWORD, 4))
    (one,) = rerank(candidates_from([hit(content="redis", found_by=found_by)]), HINTS)
    merged = RankedCandidate(
        one.candidate, one.base, one.boosts, ("keyword:Redis", "keyword:rank 9")
    )
    assert merged.hit_reasons == (
        "dense:rank 1",
        "keyword:rank 4",
        "keyword:Redis",
        "keyword:rank 9",
    )


def test_R35_rules_can_be_replaced_and_run_in_their_order() -> None:
    """A host's own rule adds its boost after or instead of the default ones."""
    own = Boost("own", 2.0, "own:last")
    hits = [hit("a", 0, 0.9, content="redis"), hit("b", 0, 0.1)]
    found = rerank(
        candidates_from(hits),
        HINTS,
        (*DEFAULT_RULES, lambda c, _hints: (own,) if c.identity.doc_id == "b" else ()),
    )
    assert keys(found) == ["b#chunk-0", "a#chunk-0"]
    assert found[0].boosts == (own,)
    assert [boost.rule for boost in found[1].boosts] == ["keyword_match"]
    assert rerank(candidates_from(hits), HINTS, ())[0].boosts == ()
