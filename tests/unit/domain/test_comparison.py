"""Two paths side by side: rows, overlap, displacement; never two scores against each other."""

from typing import cast

import pytest
from tests.unit.domain.samples import hit

from evidence_lookup.domain.candidate import candidates_from
from evidence_lookup.domain.comparison import ComparedPath, Comparison, compare
from evidence_lookup.domain.hit import KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.score import Score, ScoreSemantics


def path(*hits: KnowledgeSearchHit, name: str = "milvus") -> ComparedPath:
    """A path that found *hits*."""
    return ComparedPath(name, SearchMode.DENSE, candidates_from(hits))


def listed(doc_ids: str, semantics: ScoreSemantics = ScoreSemantics.COSINE) -> ComparedPath:
    """A path that found a chunk of each letter, best first."""
    scores = (Score(0.9 - place / 100, semantics) for place in range(len(doc_ids)))
    return path(*(hit(one, 0, score) for one, score in zip(doc_ids, scores, strict=True)))


def ranks(comparison: Comparison) -> list[tuple[str, int | None, int | None, int | None]]:
    """Each row's document, ranks and displacement."""
    return [
        (
            str(row.doc_id),
            row.main.rank if row.main else None,
            row.other.rank if row.other else None,
            row.displacement,
        )
        for row in comparison.rows
    ]


def test_R52_rows_stand_in_the_mains_order_then_in_the_others() -> None:
    """Each key has one row with its rank on both paths and how far it moved."""
    assert ranks(compare(listed("abc"), listed("xcay"), k=20)) == [
        ("a", 1, 3, 2),
        ("b", 2, None, None),
        ("c", 3, 2, -1),
        ("x", None, 1, None),
        ("y", None, 4, None),
    ]


def test_R52_the_figures_of_two_lists() -> None:
    """Overlap, the keys of one path alone, and the mean displacement, counted by hand."""
    comparison = compare(listed("abc"), listed("xcay"), k=20)
    assert comparison.overlap_at_k == 2 / 4
    assert comparison.only_main == ("b#chunk-0",)
    assert comparison.only_other == ("x#chunk-0", "y#chunk-0")
    assert comparison.mean_absolute_displacement == (2 + 1) / 2
    assert (comparison.main.count, comparison.other.count) == (3, 4)


@pytest.mark.parametrize(
    ("main", "other", "k", "overlap"),
    [
        ("", "", 5, 1.0),
        ("abc", "", 5, 0.0),
        ("abc", "abc", 20, 1.0),
        ("abc", "cba", 3, 1.0),
        ("abc", "cba", 1, 0.0),
        ("ab", "abcd", 20, 0.5),
        ("abcdef", "abcxyz", 3, 1.0),
    ],
)
def test_R52_overlap_is_measured_at_k_or_at_the_longer_list(
    main: str, other: str, k: int, overlap: float
) -> None:
    """The share of the top k that both have, where k is cut to the longer of two short lists."""
    assert compare(listed(main), listed(other), k=k).overlap_at_k == overlap


def test_R52_a_row_says_what_the_chunk_is() -> None:
    """Source or document, title, breadcrumb, category and a preview of at most 120 characters."""
    long = hit(
        content="word\n" * 1_000, title="A", breadcrumb="A > B", category="db", source="a.md"
    )
    (row,) = compare(path(long), path(), k=5).rows
    assert (row.doc_id, row.source, row.title) == ("a", "a.md", "A")
    assert (row.breadcrumb, row.category) == ("A > B", "db")
    assert row.preview.startswith("word word")
    assert len(row.preview) <= 120


def test_R34_scores_of_two_semantics_stand_side_by_side() -> None:
    """Each path keeps its own label and value; no figure depends on either."""
    distances = listed("abc", ScoreSemantics.L2_SQUARED)
    words = listed("abc", ScoreSemantics.BM25)
    comparison = compare(distances, words, k=3)
    for row in comparison.rows:
        assert row.main is not None
        assert row.other is not None
        assert row.main.score.semantics is ScoreSemantics.L2_SQUARED
        assert row.other.score.semantics is ScoreSemantics.BM25
    same = compare(listed("abc"), listed("abc"), k=3)
    assert comparison.overlap_at_k == same.overlap_at_k
    assert comparison.mean_absolute_displacement == same.mean_absolute_displacement == 0.0


def test_a_chunk_that_is_listed_twice_counts_where_it_stands_first() -> None:
    """Ranks are those among the different chunks."""
    twice = path(hit("a", 0, 0.9), hit("a", 0, 0.8), hit("b", 0, 0.7))
    comparison = compare(twice, listed("ab"), k=2)
    assert ranks(comparison) == [("a", 1, 1, 0), ("b", 2, 2, 0)]
    assert comparison.overlap_at_k == 1.0
    assert comparison.main.count == 2


def test_a_hit_without_identity_matches_nothing_of_the_other_path() -> None:
    """``rank:1`` of two lists is not one chunk: it names nothing outside its own list."""
    nameless = path(hit(None, None, content="one"))
    comparison = compare(nameless, path(hit(None, None, content="two")), k=5)
    assert comparison.overlap_at_k == 0.0
    assert comparison.only_main == comparison.only_other == ("rank:1",)
    assert [row.preview for row in comparison.rows] == ["one", "two"]


def test_a_stores_own_id_is_a_name() -> None:
    """Chunks without a document are matched by the id that the store gave them."""
    comparison = compare(path(hit(None, None, id="7")), path(hit(None, None, id="7")), k=5)
    assert (comparison.overlap_at_k, len(comparison.rows)) == (1.0, 1)


def test_a_bounded_comparison_keeps_its_figures() -> None:
    """Rows are left out and counted; overlap, keys and displacement are those of all rows."""
    whole = compare(listed("abcdef"), listed("badxyz"), k=6)
    short = whole.bounded(4).bounded(2)
    assert ranks(short) == ranks(whole)[:2]
    assert short.rows_left_out == 7
    assert short.overlap_at_k == whole.overlap_at_k
    assert (short.only_main, short.only_other) == (whole.only_main, whole.only_other)
    assert whole.bounded(100) == whole


@pytest.mark.parametrize("odd", [None, 7, b"milvus"])
def test_values_of_the_wrong_type_are_refused(odd: object) -> None:
    """What an adapter of a host may give instead of a name or a score never enters a record."""
    with pytest.raises(TypeError):
        compare(listed("a"), ComparedPath(cast("str", odd), SearchMode.DENSE, ()), k=1)
    scored = KnowledgeSearchHit("1", "text", cast("Score", odd))
    with pytest.raises((TypeError, AttributeError)):
        compare(listed("a"), path(scored), k=1)
