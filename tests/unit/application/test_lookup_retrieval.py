"""One attempt or two: what is asked of the search port, and which answer counts."""

from attrs import evolve
from tests.unit.application.bench import MILVUS, REDIS, RULES, bench, hit
from tests.unit.application.fakes import CAPABILITIES, NOTHING, found

from evidence_lookup.application.lookup_rules import LookupRules
from evidence_lookup.domain.filters import HintFilter, Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.selection import SelectionLimits
from evidence_lookup.domain.status import EvidenceStatus
from evidence_lookup.domain.trace import FallbackReason


def rules_for(*, retrieve_k: int, return_n: int) -> LookupRules:
    """The rules with other numbers."""
    return evolve(RULES, retrieve_k=retrieve_k, limits=SelectionLimits(return_n=return_n))


async def test_R09_the_port_is_asked_for_retrieve_k_and_return_n_blocks_come_out() -> None:
    """Twenty hits are asked for and at most five blocks come out."""
    one = bench(found(*(hit(f"d{n}", cosine=0.9 - n / 100) for n in range(20))))
    result = await one.ask()
    assert [request.top_k for request in one.search.requests] == [20]
    assert [block.doc_id for block in result.evidence_blocks] == ["d0", "d1", "d2", "d3", "d4"]


async def test_the_rules_figures_reach_both_ends() -> None:
    """What the rules say is the port's limit and the number of blocks."""
    hits = [hit(f"d{n}", cosine=0.9 - n / 100) for n in range(5)]
    one = bench(found(*hits), rules=rules_for(retrieve_k=3, return_n=3))
    assert len((await one.ask()).evidence_blocks) == 3
    assert one.search.requests[0].top_k == 3


async def test_the_backends_own_limit_is_kept_and_the_trace_says_so() -> None:
    """No more is asked for than the backend can give, and the attempt holds that number."""
    one = bench(found(hit()))
    one.search.capabilities = evolve(CAPABILITIES, max_top_k=7)
    result = await one.ask()
    assert one.search.requests[0].top_k == 7
    assert result.retrieval_trace.attempts[0].top_k == 7


async def test_R14_one_matching_entry_does_not_replace_the_search() -> None:
    """A query that matches exactly one document still searches, and answers with the hits."""
    one = bench(found(hit("other")), entries=(REDIS,))
    result = await one.ask("redis")
    assert len(one.search.requests) == 1
    assert [block.doc_id for block in result.evidence_blocks] == ["other"]


async def test_R14_l1_disabled_gathers_hints_and_searches_nothing() -> None:
    """With L1 off no backend is called, and the hints stand in the trace."""
    one = bench(found(hit()), entries=(REDIS,), rules=evolve(RULES, l1_enabled=False))
    result = await one.ask("redis")
    assert (result.found, result.evidence_status) == (False, EvidenceStatus.NO_EVIDENCE)
    assert result.retrieval_trace.reason == "l1_disabled"
    assert result.query_transform.hints.matched_titles == ("Redis Sentinel",)
    assert not {"probe", "embed", "search"} & set(one.log.lines)
    assert one.record.retrieval_details.query_transform.hints.matched_keywords == ("redis",)


async def test_R16_the_one_domain_of_the_hints_becomes_the_filter() -> None:
    """Hints that agree on one category put it on the request, and the trace names it."""
    one = bench(found(hit()), entries=(REDIS, MILVUS))
    result = await one.ask("redis")
    assert one.search.requests[0].hint_filter == HintFilter("databases")
    assert result.query_transform.hint_filter == "databases"
    assert result.retrieval_trace.attempts[0].hint_filter == "databases"


async def test_R16_a_blank_category_is_no_filter() -> None:
    """An entry whose category is blank gives no filter."""
    one = bench(found(hit()), entries=(evolve(REDIS, category="  "),))
    await one.ask("redis")
    assert one.search.requests[0].hint_filter is None


async def test_R17_no_domain_and_several_domains_give_no_filter() -> None:
    """Without exactly one domain the search is unfiltered and runs once."""
    for query in ("postgres", "redis or milvus"):
        one = bench(NOTHING, entries=(REDIS, MILVUS))
        result = await one.ask(query)
        assert [request.hint_filter for request in one.search.requests] == [None]
        assert result.retrieval_trace.attempts[0].name == "unfiltered"
        assert result.retrieval_trace.fallback_reason is None


async def test_R22_good_filtered_evidence_is_used_as_it_is() -> None:
    """Evidence at the reference threshold needs no second attempt."""
    one = bench(found(hit(cosine=0.5)), entries=(REDIS,))
    result = await one.ask("redis")
    trace = result.retrieval_trace
    assert [attempt.name for attempt in trace.attempts] == ["filtered"]
    assert (trace.selected_attempt, trace.fallback_reason) == ("filtered", None)
    assert not trace.filter_relaxed
    assert result.evidence_status is EvidenceStatus.FOUND


async def test_R23_no_candidates_are_retried_without_the_hints_filter() -> None:
    """An empty filtered attempt is repeated wide, with the same query and vector."""
    one = bench(NOTHING, found(hit("wide")), entries=(REDIS,))
    result = await one.ask("redis")
    first, second = one.search.requests
    assert (first.hint_filter, second.hint_filter) == (HintFilter("databases"), None)
    assert second.query == "redis"
    assert second.vector is first.vector
    trace = result.retrieval_trace
    assert trace.fallback_reason == "filtered_vector_no_evidence"
    assert [attempt.name for attempt in trace.attempts] == ["filtered", "unfiltered"]
    assert [block.doc_id for block in result.evidence_blocks] == ["wide"]


async def test_R23_candidates_that_all_fall_below_the_floor_are_retried() -> None:
    """Candidates without a single block count as no evidence."""
    one = bench(found(hit(cosine=0.1)), found(hit("wide")), entries=(REDIS,))
    result = await one.ask("redis")
    assert result.retrieval_trace.fallback_reason is FallbackReason.NO_EVIDENCE
    assert result.retrieval_trace.attempts[0].candidate_count == 1
    assert result.retrieval_trace.attempts[0].block_count == 0
    assert result.evidence_blocks[0].doc_id == "wide"


async def test_R24_low_quality_is_retried() -> None:
    """A best similarity below the reference threshold is searched again, wide."""
    one = bench(found(hit(cosine=0.49)), found(hit("wide")), entries=(REDIS,))
    result = await one.ask("redis")
    assert result.retrieval_trace.fallback_reason == "filtered_vector_low_quality"
    assert result.retrieval_trace.attempts[0].best_similarity == 0.49
    assert result.evidence_blocks[0].doc_id == "wide"


async def test_R24_a_second_attempt_without_evidence_leaves_the_first_ones() -> None:
    """Weak evidence is kept where the wide search gives none."""
    one = bench(found(hit("weak", cosine=0.3)), NOTHING, entries=(REDIS,))
    result = await one.ask("redis")
    assert result.evidence_status is EvidenceStatus.LOW_RELEVANCE
    assert [block.doc_id for block in result.evidence_blocks] == ["weak"]
    assert result.retrieval_trace.selected_attempt == "filtered"
    assert not result.retrieval_trace.filter_relaxed


async def test_R25_both_attempts_without_evidence_say_so() -> None:
    """No evidence is a message and the trace of both attempts, and no hinted document."""
    one = bench(NOTHING, entries=(REDIS,))
    result = await one.ask("redis")
    assert (result.found, result.evidence_status) == (False, EvidenceStatus.NO_EVIDENCE)
    assert "No knowledge evidence was found" in result.message
    assert result.evidence_blocks == ()
    assert result.context_pack.text == ""
    assert len(result.retrieval_trace.attempts) == 2


async def test_R26_the_hosts_scope_is_on_both_attempts() -> None:
    """Only the hints' filter is dropped; every value of the scope stays."""
    entry = evolve(REDIS, scope={"tenant": "acme", "level": 3})
    one = bench(NOTHING, entries=(entry,))
    result = await one.ask("redis", tenant="acme", level=3)
    scopes = [request.scope for request in one.search.requests]
    assert scopes == [Scope({"tenant": "acme", "level": 3})] * 2
    assert result.query_transform.scope == ("level", "tenant")


async def test_R26_a_category_that_the_host_asked_for_stays() -> None:
    """A narrowed category is scope: the retry drops the hints' category and keeps the host's."""
    one = bench(NOTHING, entries=(evolve(REDIS, scope={"tenant": "acme"}),))
    scope = Scope({"tenant": "acme"}).narrowed(category="databases")
    await one.lookup.lookup("redis", scope=scope)
    first, second = one.search.requests
    assert first.scope == second.scope == scope
    assert (first.hint_filter, second.hint_filter) == (HintFilter("databases"), None)


async def test_C37_a_relaxed_filter_is_said_and_the_filter_still_named() -> None:
    """After the retry the result says that the filter was relaxed, and which it was."""
    one = bench(NOTHING, found(hit()), entries=(REDIS,))
    trace = (await one.ask("redis")).retrieval_trace
    assert trace.filter_relaxed
    assert [attempt.hint_filter for attempt in trace.attempts] == ["databases", None]
    assert trace.selected_attempt == "unfiltered"


async def test_C38_documents_without_front_matter_are_searched_within_the_scope() -> None:
    """Entries without category and keywords give no filter; the tenant's filter is still there."""
    bare = evolve(REDIS, category=None, keywords=(), entities=())
    one = bench(found(hit()), entries=(bare,))
    result = await one.ask("what is redis sentinel", tenant="acme")
    assert result.found
    assert [(r.hint_filter, r.scope) for r in one.search.requests] == [
        (None, Scope({"tenant": "acme"}))
    ]


async def test_C39_a_scope_that_matches_nothing_is_no_error() -> None:
    """No hits within the scope, and no filter to relax: no evidence, no exception."""
    one = bench(NOTHING)
    result, error = await one.lookup.lookup("redis", scope=Scope({"tenant": "nobody"}))
    assert (result.evidence_status, error) == (EvidenceStatus.NO_EVIDENCE, None)


async def test_the_query_is_embedded_once_for_two_attempts() -> None:
    """The retry uses the first attempt's vector, and the backend is probed once for all."""
    one = bench(NOTHING, entries=(REDIS,))
    await one.ask("redis")
    await one.ask("redis")
    assert (one.log.count("search"), one.log.count("embed"), one.log.count("probe")) == (4, 2, 1)


async def test_a_mode_given_with_the_query_goes_before_the_settings() -> None:
    """The mode of the call is asked of the port and stands in the trace."""
    one = bench(found(hit()))
    result, _ = await one.lookup.lookup("redis", mode=SearchMode.KEYWORD)
    assert one.search.requests[0].mode is SearchMode.KEYWORD
    assert result.retrieval_trace.attempts[0].requested_mode is SearchMode.KEYWORD
    await one.lookup.lookup("redis")
    assert one.search.requests[1].mode is SearchMode.HYBRID


async def test_R21_a_search_is_one_request_and_its_hits_are_all_that_is_read() -> None:
    """The port gets query, vector, top_k, category and mode, and its hit becomes the block."""
    one = bench(found(hit("d1", cosine=0.9)), entries=(REDIS,))
    result = await one.ask("redis failover")
    (request,) = one.search.requests
    assert (request.query, request.top_k, request.mode) == ("redis failover", 20, SearchMode.HYBRID)
    assert request.hint_filter == HintFilter("databases")
    assert request.vector is not None
    (block,) = result.evidence_blocks
    assert (block.doc_id, block.score.semantics) == ("d1", "cosine")
    assert block.evidence_key == f"d1#chunk-{block.chunk_index}"
