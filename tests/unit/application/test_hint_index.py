"""The matcher behind hints: built when the catalogue moves, and only then."""

from collections.abc import Sequence

import anyio
import pytest
from attrs import evolve
from tests.unit.application.bench import MILVUS, REDIS
from tests.unit.application.fakes import FakeCatalogue, Log, Step, SubstringMatcher

from evidence_lookup.application.hint_index import HintIndex
from evidence_lookup.domain.document import CatalogueEntry
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hints import HintTerm

EVERYTHING = Scope()


class CountingBuild:
    """Builds substring matchers, and counts them."""

    def __init__(self) -> None:
        self.built = 0
        self.error: Exception | None = None

    def __call__(self, terms: Sequence[HintTerm]) -> SubstringMatcher:
        """One more."""
        self.built += 1
        if self.error:
            raise self.error
        return SubstringMatcher(terms)


async def test_R13_hints_name_titles_keywords_domains_and_entities() -> None:
    """What the query matched is listed by kind."""
    index = HintIndex(FakeCatalogue(REDIS, MILVUS), SubstringMatcher)
    hints = await index.match("Redis SENTINEL failover", EVERYTHING)
    assert hints.matched_titles == ("Redis Sentinel",)
    assert (hints.matched_keywords, hints.entities) == (("redis",), ("sentinel",))
    assert hints.domains == ("databases",)


async def test_the_matcher_is_built_again_only_when_the_revision_moves() -> None:
    """Unchanged, the entries are read once; a write is seen by the next query."""
    log, build = Log(), CountingBuild()
    catalogue = FakeCatalogue(REDIS, log=log)
    index = HintIndex(catalogue, build)
    for _ in range(3):
        assert await index.match("redis", EVERYTHING)
    assert (build.built, log.count("entries"), log.count("revision")) == (1, 1, 3)
    assert not await index.match("milvus", EVERYTHING)
    await catalogue.put([MILVUS])
    assert (await index.match("milvus", EVERYTHING)).matched_titles == ("Milvus Growth",)
    await catalogue.put([evolve(MILVUS, keywords=("vector store",), title="Vector Store")])
    assert not await index.match("milvus", EVERYTHING)
    await catalogue.remove(["redis"])
    assert not await index.match("redis", EVERYTHING)
    assert build.built == 4


async def test_concurrent_callers_build_once() -> None:
    """While one builds the others wait for the same matcher."""
    build = CountingBuild()
    catalogue = FakeCatalogue(REDIS)
    catalogue.step = Step(delay=0.01)
    index = HintIndex(catalogue, build)
    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(index.match, "redis", EVERYTHING)
    assert build.built == 1


async def test_a_write_during_the_build_is_seen_by_the_next_query() -> None:
    """The revision is asked for before the entries, so that no write is missed."""
    catalogue = FakeCatalogue(REDIS)

    def build(terms: Sequence[HintTerm]) -> SubstringMatcher:
        anyio.from_thread.run(catalogue.put, [MILVUS])
        return SubstringMatcher(terms)

    index = HintIndex(catalogue, build)
    await index.match("milvus", EVERYTHING)
    assert (await index.match("milvus", EVERYTHING)).matched_titles == ("Milvus Growth",)


async def test_a_failed_build_is_tried_again() -> None:
    """An error goes to the caller and leaves nothing behind."""
    build = CountingBuild()
    index = HintIndex(FakeCatalogue(REDIS), build)
    build.error = MemoryError("too many terms")
    with pytest.raises(MemoryError):
        await index.match("redis", EVERYTHING)
    build.error = None
    assert await index.match("redis", EVERYTHING)


async def test_an_empty_catalogue_gives_no_hints() -> None:
    """Before the first ingest there is nothing to match."""
    assert not await HintIndex(FakeCatalogue(), SubstringMatcher).match("redis", EVERYTHING)


async def test_R26_hints_tell_nothing_of_documents_out_of_scope() -> None:
    """Another tenant's titles, keywords and categories give no hint, even where terms are equal."""
    theirs = evolve(REDIS, scope={"tenant": "theirs"}, category="their-secret-domain")
    ours = evolve(REDIS, doc_id="ours", scope={"tenant": "ours"})
    index = HintIndex(FakeCatalogue(theirs, ours), SubstringMatcher)
    hints = await index.match("redis sentinel", Scope({"tenant": "ours"}))
    assert hints.matched_keywords == ("redis",)
    assert hints.domains == ("databases",)
    assert not await index.match("redis sentinel", Scope({"tenant": "nobody"}))


async def test_lookups_go_on_with_the_terms_before_while_one_rebuilds() -> None:
    """A catalogue that changes under load costs one lookup the rebuilding, not all of them."""
    catalogue = FakeCatalogue(REDIS)
    index = HintIndex(catalogue, SubstringMatcher)
    await index.match("redis", EVERYTHING)
    await catalogue.put([MILVUS])
    reading = anyio.Event()

    class Slow(FakeCatalogue):
        async def entries(self) -> tuple[CatalogueEntry, ...]:
            reading.set()
            await anyio.sleep_forever()
            raise AssertionError

    catalogue.__class__ = Slow
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(index.match, "milvus", EVERYTHING)
        await reading.wait()
        assert (await index.match("redis", EVERYTHING)).matched_titles == ("Redis Sentinel",)
        tasks.cancel_scope.cancel()
    catalogue.__class__ = FakeCatalogue
    assert await index.match("milvus", EVERYTHING)
