"""Two paths on the same queries: per query a comparison or the error of a path, and totals."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext

import anyio
import pytest
from attrs import evolve
from tests.unit.application.bench import RULES, hit
from tests.unit.application.fakes import (
    CAPABILITIES,
    HANG,
    NOTHING,
    FakeEmbedder,
    ScriptedSearch,
    Step,
    found,
)

from evidence_lookup.adapters.json_values import decode, dumps, from_json
from evidence_lookup.application.compare import Compare
from evidence_lookup.application.compare_report import CompareProgress, CompareReport
from evidence_lookup.application.lookup_rules import LookupRules
from evidence_lookup.application.retrieval_path import RetrievalPath
from evidence_lookup.domain.errors import (
    CallerError,
    EvidenceLookupError,
    MissingExtraError,
    ScopeError,
    SettingsError,
)
from evidence_lookup.domain.filters import Scope
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.ports.knowledge_search import KnowledgeSearchPort

A_B, B_A, A_Z = (found(*map(hit, letters)) for letters in ("ab", "ba", "az"))
DOWN = Step(error=ConnectionError("refused"))


class House:
    """Paths by name over scripted ports, or over an error that opening raises."""

    def __init__(
        self, *, rules: LookupRules = RULES, **ports: ScriptedSearch | EvidenceLookupError
    ) -> None:
        self.embedder = FakeEmbedder()
        self.ports: Mapping[str, ScriptedSearch | EvidenceLookupError] = ports
        self.compare = Compare(self.path, tuple(ports), self.embedder, rules)

    def path(self, name: str) -> RetrievalPath:
        """The path of that name."""

        def open_search() -> AbstractAsyncContextManager[KnowledgeSearchPort]:
            port = self.ports[name]
            if isinstance(port, EvidenceLookupError):
                raise port
            return nullcontext(port)

        return RetrievalPath(name, open_search, self.embedder)

    async def ask(self, *queries: str) -> CompareReport:
        """The paths ``one`` and ``two`` on *queries*."""
        return await self.compare.compare(queries, main="one", other="two")


def house(one: Step | ScriptedSearch, two: Step | ScriptedSearch) -> House:
    """Two paths that play a step for ever."""
    ports = [
        port if isinstance(port, ScriptedSearch) else ScriptedSearch(port) for port in (one, two)
    ]
    return House(one=ports[0], two=ports[1])


async def test_R52_one_query_gives_rows_and_totals() -> None:
    """Ranks of both paths by evidence key, and the same figures in the totals."""
    report = await house(A_B, A_Z).ask("redis")
    (one,) = report.queries
    assert one.comparison is not None
    assert [row.doc_id for row in one.comparison.rows] == ["a", "b", "z"]
    assert (report.main, report.other, report.mode, report.top_k) == ("one", "two", "hybrid", 20)
    totals = report.totals
    assert (totals.queries, totals.compared) == (1, 1)
    assert (totals.mean_overlap_at_k, totals.full_overlap_share) == (0.5, 0.0)
    assert (totals.only_main, totals.only_other) == (1, 1)
    assert totals.mean_absolute_displacement == 0.0
    assert (totals.main_failures, totals.other_failures) == (0, 0)


async def test_R52_the_totals_are_over_all_queries() -> None:
    """Means over queries for the overlap, over shared chunks for the displacement."""
    one = House(one=ScriptedSearch(A_B), two=ScriptedSearch(A_B, B_A, A_Z))
    reports = [await one.ask("redis") for _ in range(3)]
    assert [report.totals.mean_overlap_at_k for report in reports] == [1.0, 1.0, 0.5]
    assert [report.totals.mean_absolute_displacement for report in reports] == [0.0, 1.0, 0.0]
    together = await house(A_B, ScriptedSearch(A_B, B_A, A_Z)).ask("x", "y", "z")
    assert together.totals.mean_overlap_at_k == pytest.approx((1 + 1 + 0.5) / 3)
    assert together.totals.full_overlap_share == pytest.approx(2 / 3)
    assert together.totals.mean_absolute_displacement == pytest.approx(2 / 5)
    assert [one.query for one in together.queries] == ["x", "y", "z"]


async def test_both_paths_get_the_same_request() -> None:
    """Embedded once for each query; scope, mode and size as given, and no hint filter."""
    one, two = ScriptedSearch(A_B), ScriptedSearch(A_B)
    paths = house(one, two)
    scope = Scope({"tenant": "acme"})
    await paths.compare.compare(
        ["redis"], main="one", other="two", scope=scope, mode=SearchMode.KEYWORD, top_k=7
    )
    assert one.requests == two.requests
    (request,) = one.requests
    assert request.vector is two.requests[0].vector
    assert (request.scope, request.mode, request.top_k) == (scope, "keyword", 7)
    assert request.hint_filter is None
    assert paths.embedder.queries == ["redis"]


async def test_the_smaller_limits_of_both_paths_bound_the_request() -> None:
    """Neither backend is asked for more than the other takes, so that k is the same for both."""
    one, two = ScriptedSearch(A_B), ScriptedSearch(A_B)
    one.capabilities = evolve(CAPABILITIES, max_top_k=3)
    two.capabilities = evolve(CAPABILITIES, max_query_characters=5)
    report = await house(one, two).ask("redis sentinel")
    for port in (one, two):
        assert [(r.query, r.top_k) for r in port.requests] == [("redis", 3)]
    assert report.queries[0].comparison is not None
    assert (report.queries[0].comparison.k, report.top_k) == (3, 20)


async def test_R34_scores_keep_the_label_of_their_path() -> None:
    """A distance beside a BM25 weight; the report converts neither."""
    distance = evolve(hit("a"), score=Score(0.4, ScoreSemantics.L2_SQUARED))
    weight = evolve(hit("a"), score=Score(7.5, ScoreSemantics.BM25))
    report = await house(found(distance), found(weight)).ask("redis")
    assert report.queries[0].comparison is not None
    (row,) = report.queries[0].comparison.rows
    assert row.main is not None
    assert row.other is not None
    assert (row.main.score, row.other.score) == (distance.score, weight.score)


@pytest.mark.parametrize("fails", ["one", "two"])
async def test_a_path_that_fails_is_told_query_by_query(fails: str) -> None:
    """The other queries are compared, and the failures are counted by path."""
    steps = {"one": ScriptedSearch(A_B), "two": ScriptedSearch(A_B)}
    steps[fails] = ScriptedSearch(DOWN, A_B)
    report = await house(steps["one"], steps["two"]).ask("x", "y")
    first, second = report.queries
    assert second.comparison is not None
    assert first.comparison is None
    error = first.main_error if fails == "one" else first.other_error
    assert error is not None
    assert error.kind == "connection"
    totals = report.totals
    assert (totals.compared, totals.mean_overlap_at_k) == (1, 1.0)
    assert (totals.main_failures, totals.other_failures) == ((1, 0) if fails == "one" else (0, 1))


async def test_a_path_that_hangs_is_a_timeout_at_the_deadline() -> None:
    """The deadline of a lookup holds for each query; nothing compared means no figures."""
    one, two = ScriptedSearch(A_B), ScriptedSearch(HANG)
    paths = House(one=one, two=two, rules=evolve(RULES, deadline_seconds=0.05))
    with anyio.fail_after(5):
        report = await paths.ask("x")
    (only,) = report.queries
    assert only.other_error is not None
    assert (only.main_error, only.other_error.kind) == (None, "timeout")
    assert (report.totals.compared, report.totals.mean_overlap_at_k) == (0, None)
    assert report.totals.mean_absolute_displacement is None


async def test_C42_a_path_of_another_embedder_is_told_and_not_searched() -> None:
    """Each path is checked against the embedder by itself."""
    one, two = ScriptedSearch(A_B), ScriptedSearch(A_B)
    two.capabilities = evolve(CAPABILITIES, dimension=768)
    report = await house(one, two).ask("x")
    (only,) = report.queries
    assert only.other_error is not None
    assert (only.main_error, only.other_error.kind) == (None, "dimension_mismatch")
    assert one.requests == two.requests == []


async def test_an_embedder_that_fails_fails_both_paths() -> None:
    """Without a vector neither path is searched, and each query says so."""
    paths = house(A_B, A_B)
    paths.embedder.step = DOWN
    report = await paths.ask("x")
    assert (report.totals.main_failures, report.totals.other_failures) == (1, 1)


async def test_one_path_that_cannot_be_opened_is_told_and_two_are_raised() -> None:
    """With one path there is a report; with none there is only the main one's error."""
    missing = MissingExtraError("elasticsearch", "the path elasticsearch")
    report = await House(one=ScriptedSearch(A_B), two=missing).ask("x", "y")
    assert [one.other_error and one.other_error.kind for one in report.queries] == [
        "missing_extra",
        "missing_extra",
    ]
    with pytest.raises(SettingsError):
        await House(one=SettingsError(["wrong"]), two=missing).ask("x")


async def test_wrong_input_is_refused_before_anything_is_asked() -> None:
    """An unknown path, an empty query, a top_k below 1, a missing scope value."""
    paths = house(A_B, A_B)
    with pytest.raises(SettingsError, match="'three'; the paths are one, two"):
        await paths.compare.compare(["x"], main="one", other="three")
    with pytest.raises(CallerError, match="query 2 of 2 is empty"):
        await paths.ask("x", "\u200b ")
    with pytest.raises(CallerError, match="top_k must be at least 1, not 0"):
        await paths.compare.compare(["x"], main="one", other="two", top_k=0)
    strict = evolve(paths.compare, rules=evolve(RULES, required_scope=("tenant",)))
    with pytest.raises(ScopeError):
        await strict.compare(["x"], main="one", other="two")
    assert paths.embedder.queries == []


async def test_many_queries_run_at_once_in_bounds_and_report_progress() -> None:
    """At most 8 at once, the report in the order of the queries, progress up to the last one."""
    one, two = (ScriptedSearch(evolve(A_B, delay=0.005)) for _ in range(2))
    seen: list[CompareProgress] = []
    queries = [f"q{n}" for n in range(30)]
    report = await house(one, two).compare.compare(
        queries, main="one", other="two", on_progress=seen.append
    )
    assert [query.query for query in report.queries] == queries
    assert 2 <= one.most_running <= 8
    assert [at.done for at in seen] == list(range(1, 31))
    assert {at.total for at in seen} == {30}


async def test_no_query_gives_a_report_without_figures() -> None:
    """Nothing to ask is no error."""
    totals = (await house(NOTHING, NOTHING).ask()).totals
    assert (totals.queries, totals.mean_overlap_at_k) == (0, None)


async def test_a_path_is_not_compared_with_itself() -> None:
    """The same name twice would always overlap whole, which says nothing."""
    with pytest.raises(SettingsError, match="itself"):
        await house(A_B, A_Z).compare.compare(["x"], main="one", other="one")


async def test_a_report_comes_back_from_json_equal() -> None:
    """Comparisons, errors and totals survive JSON text."""
    report = await house(A_B, ScriptedSearch(A_Z, DOWN)).ask("数据库", "y")
    assert from_json(CompareReport, decode(dumps(report))) == report
