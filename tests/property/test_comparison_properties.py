"""Two paths side by side, whatever they found."""

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from tests.property.strategies import hit_lists, hits

from evidence_lookup.adapters.json_values import decode, dumps, from_json
from evidence_lookup.domain.candidate import candidates_from
from evidence_lookup.domain.comparison import ComparedPath, Comparison, compare
from evidence_lookup.domain.hit import KnowledgeSearchHit, SearchMode

_k = st.integers(1, 30)
_paths = st.builds(
    ComparedPath,
    path=st.sampled_from(["milvus", "vectorstore"]),
    mode=st.sampled_from(SearchMode),
    candidates=hit_lists.map(candidates_from),
    degraded=st.sampled_from([(), ("hybrid_unavailable",)]),
)


def _named(hit: KnowledgeSearchHit) -> bool:
    return not candidates_from([hit])[0].identity.is_synthetic


_named_paths = st.lists(hits().filter(_named), max_size=25).map(
    lambda found: ComparedPath("milvus", SearchMode.DENSE, candidates_from(found))
)


@given(_paths, _paths, _k)
def test_R52_overlap_and_displacement_are_the_same_from_both_sides(
    one: ComparedPath, two: ComparedPath, k: int
) -> None:
    """Which path is the main one changes the order of rows and the sign of moves, nothing else."""
    there, back = compare(one, two, k=k), compare(two, one, k=k)
    assert there.overlap_at_k == back.overlap_at_k
    assert 0.0 <= there.overlap_at_k <= 1.0
    assert there.mean_absolute_displacement == back.mean_absolute_displacement
    assert (there.only_main, there.only_other) == (back.only_other, back.only_main)
    moves = {row.evidence_key: row.displacement for row in back.rows}
    for row in there.rows:
        if row.displacement is not None:
            assert moves[row.evidence_key] == -row.displacement


@given(_named_paths, _k)
def test_R52_a_path_agrees_with_itself(one: ComparedPath, k: int) -> None:
    """The same list twice overlaps whole and moves nothing."""
    comparison = compare(one, one, k=k)
    assert comparison.overlap_at_k == 1.0
    assert comparison.only_main == comparison.only_other == ()
    assert comparison.mean_absolute_displacement in (0.0, None)
    assert all(row.displacement == 0 for row in comparison.rows)


@given(_named_paths, _named_paths, _k)
def test_R52_each_key_has_one_row_and_each_path_its_ranks(
    one: ComparedPath, two: ComparedPath, k: int
) -> None:
    """Rows are the union of both lists, and the ranks of each path are 1, 2, 3 without gaps."""
    comparison = compare(one, two, k=k)
    keys = [row.evidence_key for row in comparison.rows]
    assert len(keys) == len(set(keys))
    assert set(keys) == {c.evidence_key for c in (*one.candidates, *two.candidates)}
    in_main = [row.main.rank for row in comparison.rows if row.main]
    in_other = [row.other.rank for row in comparison.rows if row.other]
    assert in_main == list(range(1, comparison.main.count + 1))
    assert sorted(in_other) == list(range(1, comparison.other.count + 1))


@given(_named_paths, _paths, _k)
def test_R52_a_duplicate_changes_nothing(one: ComparedPath, two: ComparedPath, k: int) -> None:
    """A list with all its chunks said again compares as it did before."""
    twice = evolve(one, candidates=one.candidates * 2)
    assert compare(twice, two, k=k) == compare(one, two, k=k)


@given(_paths, _paths, _k, st.integers(0, 30))
def test_a_comparison_comes_back_from_json_equal(
    one: ComparedPath, two: ComparedPath, k: int, rows: int
) -> None:
    """Whole or bounded, every comparison survives JSON text."""
    for comparison in (compare(one, two, k=k), compare(one, two, k=k).bounded(rows)):
        assert from_json(Comparison, decode(dumps(comparison))) == comparison
