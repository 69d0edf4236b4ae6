"""Queries of every kind: empty, endless, odd; and the same one twice."""

import pytest
from attrs import evolve
from tests.unit.application.bench import REDIS, RULES, bench, hit
from tests.unit.application.fakes import CAPABILITIES, found

from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.result import LookupResult

EMPTY = ["", "   ", "\n\u200b", "\t\r\n", "\x00", "\x0c\x0b", "\ud800", "\ufeff\u2060", "\u3164"]
ODD = [
    "?!…",
    "redis \ud800 timeout",
    "redis\x00timeout",
    "\u202eطريقة إعادة تشغيل redis",
    "'; drop table x; --",
    '") or true or ("',
    "e\u0301" * 30,
    "👩‍👩‍👧‍👦",
    "麻婆豆腐的做法",
]


@pytest.mark.parametrize("query", EMPTY)
async def test_R55_C56_a_query_that_shows_nothing_calls_no_backend(query: str) -> None:
    """Empty, blank or invisible: no evidence for that reason, recorded, nothing asked."""
    one = bench(found(hit()), entries=(REDIS,))
    result, error = await one.lookup.lookup(query)
    assert (result.evidence_status, result.found, error) == ("no_evidence", False, None)
    assert result.retrieval_trace.reason == "empty_query"
    assert one.log.lines == ["record"]
    assert one.record.retrieval_details.retrieval_trace.reason == "empty_query"
    one.record.query.encode()


@pytest.mark.parametrize("query", ODD)
async def test_odd_queries_are_answered_like_others(query: str) -> None:
    """Punctuation, surrogates, NUL, right-to-left and quotes are searched; all can be stored."""
    one = bench(found(hit()), entries=(REDIS,))
    result = await one.ask(query)
    assert result.evidence_status == "found"
    for text in (result.query, one.record.query, one.search.requests[0].query):
        text.encode()
        assert "\x00" not in text
    assert one.embedder.queries == [result.query]


async def test_R56_a_query_of_50_kB_is_cut_by_the_limit_of_each_path() -> None:
    """Embedder and keyword path get what each can read; the trace says what was cut."""
    query = "redis failover " * 3_500
    one = bench(found(hit()), max_tokens=4_000)
    result = await one.ask(query)
    assert len(one.embedder.queries[0]) == 4_000
    sent = one.search.requests[0].query
    assert len(sent) <= CAPABILITIES.max_query_characters
    assert sent.endswith(("redis", "failover"))
    cuts = {cut.path: (cut.length, cut.kept) for cut in result.query_transform.cuts}
    assert cuts == {
        "dense": (len(query), 4_000),
        "keyword": (len(query), len(sent)),
        "record": (len(query), len(one.record.query)),
    }


async def test_R56_the_recorded_query_is_bounded() -> None:
    """The record and the trace keep a beginning of a long query."""
    one = bench(found(hit()))
    result = await one.ask("redis failover " * 3_500)
    assert 1_900 < len(one.record.query) <= 2_000
    assert len(one.record.retrieval_details.query_transform.query) <= 2_000
    assert len(result.query_transform.query) <= 2_000


async def test_R56_a_dense_search_cuts_only_for_the_embedder() -> None:
    """Where no keyword path runs, its limit cuts nothing."""
    one = bench(found(hit()), rules=evolve(RULES, mode=SearchMode.DENSE))
    result = await one.ask("word " * 390)  # 1,950 characters: the record keeps 2,000
    assert result.query_transform.cuts == ()


async def test_R56_a_query_that_fits_is_left_alone() -> None:
    """A query within every limit goes through verbatim, its white space too."""
    one = bench(found(hit()))
    result = await one.ask("  How do I\n restart redis?  ")
    assert one.search.requests[0].query == "  How do I\n restart redis?  "
    assert result.query_transform.cuts == ()


def without_ids_and_times(result: LookupResult) -> LookupResult:
    """The part that must not differ."""
    trace = evolve(result.retrieval_trace, timings={})
    return evolve(result, invocation_id="", retrieval_trace=trace)


async def test_R57_the_same_query_twice_gives_the_same_result() -> None:
    """Ids and times apart, two results are equal and written alike."""
    hits = [hit(f"d{n}", cosine=0.7) for n in range(10)] + [hit("d1", 0, 0.7)]
    one = bench(found(*hits), entries=(REDIS,))
    first, second = await one.ask("redis"), await one.ask("redis")
    assert first.invocation_id != second.invocation_id
    assert without_ids_and_times(first) == without_ids_and_times(second)
    assert repr(without_ids_and_times(first)) == repr(without_ids_and_times(second))
