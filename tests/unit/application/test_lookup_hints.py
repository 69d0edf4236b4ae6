"""What hints do in a lookup: help and be recorded, never be evidence, never stop it."""

from attrs import evolve
from tests.unit.application.bench import MILVUS, REDIS, RULES, bench, hit
from tests.unit.application.fakes import HANG, NOTHING, Step, found

from evidence_lookup.domain.errors import BackendFailedError
from evidence_lookup.domain.evidence import RetrievalLayer
from evidence_lookup.domain.status import EvidenceStatus


async def test_R15_hinted_documents_are_never_evidence() -> None:
    """Hints without a usable hit give an empty answer; they stand in the trace."""
    one = bench(NOTHING, entries=(REDIS,))
    result = await one.ask("redis sentinel")
    assert result.evidence_blocks == ()
    assert not result.found
    assert result.query_transform.hints.matched_titles == ("Redis Sentinel",)


async def test_R18_a_hint_that_stands_in_a_hit_lifts_it_and_is_its_reason() -> None:
    """Of two near hits the hinted document's comes first, with the hint as a hit reason."""
    hits = (
        hit("plain", cosine=0.81),
        hit("hinted", cosine=0.80, keywords=["redis"]),
        hit("z", cosine=0.3),
    )
    one = bench(found(*hits), entries=(REDIS,))
    result = await one.ask("redis")
    first = result.evidence_blocks[0]
    assert first.doc_id == "hinted"
    assert "keyword:redis" in first.hit_reasons
    assert result.rerank_trace[0].evidence_key == "hinted#chunk-0"


async def test_R19_the_record_holds_the_hints() -> None:
    """Keywords, domains, entities and titles are recorded."""
    one = bench(found(hit()), entries=(REDIS, MILVUS))
    await one.ask("redis sentinel and milvus")
    hints = one.record.retrieval_details.query_transform.hints
    assert hints.matched_keywords == ("milvus", "redis")
    assert hints.domains == ("vectors", "databases")
    assert hints.entities == ("sentinel",)
    assert hints.matched_titles == ("Milvus Growth", "Redis Sentinel")


async def test_R19_a_query_that_matches_everything_gives_a_bounded_record() -> None:
    """Of each kind of hint at most twenty are recorded."""
    many = tuple(
        evolve(REDIS, doc_id=f"d{n}", title=f"Title {n}", keywords=(f"k{n}x",)) for n in range(50)
    )
    one = bench(found(hit()), entries=many)
    await one.ask(" ".join(f"k{n}x" for n in range(50)))
    hints = one.record.retrieval_details.query_transform.hints
    assert (len(hints.matched_keywords), len(hints.matched_titles)) == (20, 20)


async def test_R20_the_layer_says_who_took_part() -> None:
    """Hints and candidates give L0+L1; candidates alone, or hints without any, give L1."""
    for query, step, layer in (
        ("redis", found(hit()), RetrievalLayer.L0_L1),
        ("postgres", found(hit()), RetrievalLayer.L1),
        ("redis", NOTHING, RetrievalLayer.L1),
    ):
        one = bench(step, entries=(REDIS,))
        result = await one.ask(query)
        assert one.record.retrieval_layer is layer
        assert result.retrieval_trace.retrieval_layer is layer
        assert all(block.retrieval_layer is layer for block in result.evidence_blocks)


async def test_a_catalogue_that_fails_costs_the_hints_only() -> None:
    """With the catalogue down the lookup answers, with a warning that names the cause."""
    for error in (BackendFailedError("disk I/O error"), ConnectionError("refused"), KeyError("x")):
        one = bench(found(hit()), entries=(REDIS,))
        one.catalogue.step = Step(error=error)
        result = await one.ask("redis")
        assert result.evidence_status is EvidenceStatus.FOUND
        (warning,) = result.retrieval_trace.warnings
        assert warning.startswith("hints_unavailable: ")
        assert str(error) in warning
        assert one.search.requests[0].hint_filter is None


async def test_a_catalogue_that_hangs_costs_the_hints_only() -> None:
    """A catalogue that never answers leaves time for the search within the one deadline."""
    one = bench(found(hit()), entries=(REDIS,), rules=evolve(RULES, deadline_seconds=0.2))
    one.catalogue.step = HANG
    result = await one.ask("redis")
    assert result.evidence_status is EvidenceStatus.FOUND
    assert result.retrieval_trace.warnings[0].startswith("hints_unavailable: ")


async def test_a_catalogue_that_comes_back_gives_hints_again() -> None:
    """A failure is not remembered: the next lookup has its hints."""
    one = bench(found(hit()), entries=(REDIS,))
    one.catalogue.step = Step(error=ConnectionError("refused"))
    await one.ask("redis")
    one.catalogue.step = NOTHING
    assert (await one.ask("redis")).query_transform.hints.matched_keywords == ("redis",)
