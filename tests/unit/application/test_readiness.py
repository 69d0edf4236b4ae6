"""Whether index and embedder fit, and what a diagnosis says of each part."""

from collections.abc import Sequence

import anyio
import pytest
from attrs import evolve
from tests.unit.application.bench import MILVUS, REDIS, bench, hit
from tests.unit.application.fakes import (
    CAPABILITIES,
    NOTHING,
    FakeCatalogue,
    FakeEmbedder,
    ScriptedSearch,
    Step,
    found,
)

from evidence_lookup.application.diagnosis import Diagnosis
from evidence_lookup.application.readiness import Readiness
from evidence_lookup.domain.errors import (
    BackendUnavailableError,
    CollectionMissingError,
    DimensionMismatchError,
    EmbedderMismatchError,
)
from evidence_lookup.domain.invocation_summary import InvocationSummary, summary_of
from evidence_lookup.domain.record import ToolInvocation
from evidence_lookup.domain.trace_filter import EVERY_TRACE, TraceFilter
from evidence_lookup.ports.trace import TraceReader


class FakeTraces:
    """Reads from a list."""

    def __init__(self, records: Sequence[ToolInvocation] = (), error: Exception | None = None):
        self._records = records
        self._error = error

    async def get(self, invocation_id: str) -> ToolInvocation | None:
        """The one of that id."""
        return next((one for one in self._records if one.id == invocation_id), None)

    async def recent(
        self, *, limit: int, where: TraceFilter = EVERY_TRACE
    ) -> tuple[ToolInvocation, ...]:
        """The first ones."""
        if self._error:
            raise self._error
        return tuple(self._records[:limit])

    async def summaries(
        self, *, limit: int, where: TraceFilter = EVERY_TRACE
    ) -> tuple[InvocationSummary, ...]:
        """Those of the first ones."""
        return tuple(map(summary_of, await self.recent(limit=limit, where=where)))


_traces: TraceReader = FakeTraces()


async def test_a_fitting_index_is_probed_once() -> None:
    """The second caller gets the first one's answer."""
    search = ScriptedSearch()
    readiness = Readiness(search, FakeEmbedder())
    search.probes = [NOTHING, Step(error=ConnectionError("asked twice"))]
    assert await readiness.capabilities() == CAPABILITIES
    assert await readiness.capabilities() == CAPABILITIES
    readiness.forget()
    with pytest.raises(ConnectionError):
        await readiness.capabilities()


async def test_C42_an_index_of_other_dimensions_is_refused_with_both_numbers() -> None:
    """The error holds and names what is expected and what is there, and what to set."""
    search = ScriptedSearch()
    search.capabilities = evolve(CAPABILITIES, dimension=768, embedder=None)
    with pytest.raises(DimensionMismatchError, match=r"768 .* 4: .*embedder\.kind") as caught:
        await Readiness(search, FakeEmbedder()).capabilities()
    assert (caught.value.expected, caught.value.actual) == (768, 4)


async def test_C42_an_index_of_another_model_is_refused_with_both_names() -> None:
    """Equal dimensions do not make two models one; the error tells both ways out."""
    search = ScriptedSearch()
    search.capabilities = evolve(CAPABILITIES, embedder="other@2", dimension=768)
    with pytest.raises(EmbedderMismatchError, match=r"other@2.*fake@1.*--rebuild") as caught:
        await Readiness(search, FakeEmbedder()).capabilities()
    assert (caught.value.stored, caught.value.configured) == ("other@2", "fake@1")


async def test_an_index_of_an_unknown_model_is_taken_by_its_dimensions() -> None:
    """A collection that others made says nothing of its model; it is used as it stands."""
    search = ScriptedSearch()
    search.capabilities = evolve(CAPABILITIES, embedder=None)
    assert await Readiness(search, FakeEmbedder()).capabilities() == search.capabilities


async def test_a_failed_probe_is_tried_again() -> None:
    """Neither an error of the backend nor a mismatch is remembered."""
    search = ScriptedSearch()
    search.probes = [Step(error=CollectionMissingError("nothing ingested")), NOTHING]
    readiness = Readiness(search, FakeEmbedder())
    with pytest.raises(CollectionMissingError):
        await readiness.capabilities()
    search.capabilities = evolve(CAPABILITIES, dimension=768)
    with pytest.raises(DimensionMismatchError):
        await readiness.capabilities()
    search.capabilities = CAPABILITIES
    assert await readiness.capabilities() == CAPABILITIES


async def test_a_probe_that_was_cancelled_is_tried_again() -> None:
    """A caller that gives up leaves no lock and no half answer behind."""
    search = ScriptedSearch()
    search.probes = [Step(delay=60), NOTHING]
    readiness = Readiness(search, FakeEmbedder())
    with anyio.move_on_after(0.02):
        await readiness.capabilities()
    assert await readiness.capabilities() == CAPABILITIES


def diagnosis(search: ScriptedSearch, catalogue: FakeCatalogue, traces: FakeTraces) -> Diagnosis:
    """A diagnosis of fakes."""
    embedder = FakeEmbedder()
    return Diagnosis(embedder, Readiness(search, embedder), catalogue, traces)


async def test_a_set_up_that_works_says_what_it_holds() -> None:
    """Each part answers for itself, in the order in which a lookup uses them."""
    one = bench(found(hit()))
    await one.ask()
    entries = (evolve(REDIS, chunk_count=3), evolve(MILVUS, content_hash=""))
    traces = FakeTraces([one.record])
    checks = await diagnosis(ScriptedSearch(), FakeCatalogue(*entries), traces).run()
    assert all(check.ok for check in checks)
    assert {check.name: check.detail for check in checks} == {
        "embedder": "fake@1, 4 dimensions",
        "knowledge": "fake: 4 dimensions, cosine, modes dense, hybrid, keyword",
        "catalogue": "2 documents, 3 chunks; 1 of an interrupted ingest, run it again",
        "traces": "last lookup at 2026-01-02 03:04:05 UTC",
    }


async def test_a_part_that_fails_does_not_stop_the_others() -> None:
    """Every part is asked, and each failure has its kind, whatever an adapter raises."""
    search, catalogue = ScriptedSearch(), FakeCatalogue()
    search.probes = [Step(error=BackendUnavailableError("nobody at localhost:19530"))]
    catalogue.step = Step(error=ConnectionError("refused"))
    traces = FakeTraces(error=KeyError("created_at"))
    checks = await diagnosis(search, catalogue, traces).run()
    assert [(check.name, check.ok) for check in checks] == [
        ("embedder", True),
        ("knowledge", False),
        ("catalogue", False),
        ("traces", False),
    ]
    assert [check.detail.split(":")[0] for check in checks[1:]] == [
        "connection",
        "connection",
        "failed",
    ]


async def test_a_diagnosis_probes_anew() -> None:
    """What an earlier lookup saw is not taken for granted."""
    search, embedder = ScriptedSearch(), FakeEmbedder()
    readiness = Readiness(search, embedder)
    await readiness.capabilities()
    search.capabilities = evolve(CAPABILITIES, dimension=768)
    checks = await Diagnosis(embedder, readiness, FakeCatalogue(), FakeTraces()).run()
    assert (checks[1].ok, checks[1].detail.split(":")[0]) == (False, "dimension_mismatch")
