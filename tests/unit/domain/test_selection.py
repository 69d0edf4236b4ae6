"""From ranked candidates to evidence (R05 to R12, R53)."""

import math

import pytest
from tests.unit.domain.samples import block, cosine, hit, keys, ranked

from evidence_lookup.domain.candidate import candidates_from
from evidence_lookup.domain.hints import QueryHints
from evidence_lookup.domain.hit import FoundBy, SearchMode
from evidence_lookup.domain.pack import ContextPackSummary
from evidence_lookup.domain.rerank import rerank
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.domain.selection import Drop, DropReason, SelectionLimits, select
from evidence_lookup.domain.status import CompletenessHint, completeness

WIDE = SelectionLimits(return_n=100, max_chunks_per_document=100)


def told(drops: tuple[Drop, ...]) -> list[tuple[str, str]]:
    """The key and reason of each drop."""
    return [(drop.evidence_key, drop.reason.value) for drop in drops]


def test_R05_one_key_gives_one_block_with_the_better_ones_content() -> None:
    """The higher-ranked one's content stays, wherever the port had it."""
    found = ranked(
        hit("a", 0, 0.5, content="worse"), hit("b", 0, 0.7), hit("a", 0, 0.9, content="better")
    )
    accepted, drops = select(found, WIDE)
    assert keys(accepted) == ["a#chunk-0", "b#chunk-0"]
    assert accepted[0].candidate.content == "better"
    assert drops == (Drop("a#chunk-0", DropReason.DUPLICATE, rank=1, similarity=0.5),)


def test_R05_reasons_of_duplicates_are_merged_in_order_without_repeats() -> None:
    """The block keeps its own reasons first, then those that its duplicates add."""
    dense, keyword = FoundBy(SearchMode.DENSE, 1), FoundBy(SearchMode.KEYWORD, 2)
    hints = QueryHints(matched_keywords=("redis", "quorum"))
    found = rerank(
        candidates_from(
            [
                hit("a", 0, 0.9, content="redis", found_by=(dense,)),
                hit("a", 0, 0.5, content="redis quorum", found_by=(keyword, dense)),
                hit("a", 0, 0.1, content="nothing", found_by=(FoundBy(SearchMode.DENSE, 9),)),
            ]
        ),
        hints,
    )
    accepted, drops = select(found, WIDE)
    assert [one.hit_reasons for one in accepted] == [
        ("dense:rank 1", "keyword:redis", "keyword:rank 2", "keyword:quorum", "dense:rank 9")
    ]
    assert told(drops) == [("a#chunk-0", "duplicate")] * 2


def test_R05_integers_however_written_are_one_key() -> None:
    """An index written as text in one path and as a float in the other is one chunk."""
    accepted, _ = select(
        ranked(hit("a", None, 0.9, chunkIndex="3"), hit("a", None, 0.8, chunk_index=3.0)), WIDE
    )
    assert keys(accepted) == ["a#chunk-3"]


def test_R06_two_chunks_of_one_document_both_stay() -> None:
    """Source and document are no duplicate keys."""
    found = ranked(hit("a", 0, 0.9, source="a.md"), hit("a", 1, 0.8, source="a.md"))
    accepted, drops = select(found, SelectionLimits())
    assert (keys(accepted), drops) == (["a#chunk-0", "a#chunk-1"], ())


def test_R07_only_the_best_of_a_document_stay() -> None:
    """The cap keeps the best two by ranking score, not the first two of the port."""
    found = ranked(hit("a", 0, 0.5), hit("a", 1, 0.9), hit("a", 2, 0.7), hit("b", 0, 0.6))
    accepted, drops = select(found, SelectionLimits())
    assert keys(accepted) == ["a#chunk-1", "a#chunk-2", "b#chunk-0"]
    assert drops == (Drop("a#chunk-0", DropReason.DOCUMENT_CAP, rank=1, similarity=0.5),)


def test_R07_the_cap_counts_blocks_not_duplicates() -> None:
    """A repeated key does not use up its document's room."""
    found = ranked(hit("a", 0, 0.9), hit("a", 0, 0.8), hit("a", 1, 0.7), hit("a", 2, 0.6))
    accepted, drops = select(found, SelectionLimits())
    assert keys(accepted) == ["a#chunk-0", "a#chunk-1"]
    assert told(drops) == [("a#chunk-0", "duplicate"), ("a#chunk-2", "document_cap")]


def test_R07_what_the_floor_drops_does_not_count_for_the_cap() -> None:
    """A chunk below the floor frees its place for the next one of its document."""
    low = hit("a", 0, Score(9.0, ScoreSemantics.BM25), similarity_score=cosine(0.1))
    others = [
        hit("a", n, Score(9.0 - n, ScoreSemantics.BM25), similarity_score=cosine(0.8))
        for n in (1, 2)
    ]
    accepted, drops = select(ranked(low, *others), SelectionLimits(floor=0.2))
    assert keys(accepted) == ["a#chunk-1", "a#chunk-2"]
    assert told(drops) == [("a#chunk-0", "below_floor")]


def test_R07_a_document_with_some_synthetic_keys_is_one_document() -> None:
    """Chunks of one document count together even where an index is missing."""
    found = ranked(hit("a", 0, 0.9), hit("a", None, 0.8, id="7"), hit("a", None, 0.7, id="8"))
    accepted, drops = select(found, SelectionLimits())
    assert keys(accepted) == ["a#chunk-0", "vector:7"]
    assert told(drops) == [("vector:8", "document_cap")]


def test_R08_without_a_document_each_key_has_its_own_bucket() -> None:
    """Hits of no document are never capped against each other."""
    found = ranked(*(hit(None, None, 0.9 - n / 10, id=str(n)) for n in range(4)))
    accepted, drops = select(found, SelectionLimits(max_chunks_per_document=1))
    assert (len(accepted), drops) == (4, ())


def test_R09_at_most_return_n_come_out_five_by_default() -> None:
    """Of twenty candidates the best five are returned; the others are told."""
    accepted, drops = select(
        ranked(*(hit(f"d{n}", 0, n / 20) for n in range(20))), SelectionLimits()
    )
    assert keys(accepted) == [f"d{n}#chunk-0" for n in (19, 18, 17, 16, 15)]
    assert told(drops) == [(f"d{n}#chunk-0", "return_n") for n in range(14, -1, -1)]


def test_R09_limits_below_one_are_refused() -> None:
    """A limit that lets nothing out is a mistake, not a limit."""
    assert (SelectionLimits().return_n, SelectionLimits().max_chunks_per_document) == (5, 2)
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="return_n"):
            SelectionLimits(return_n=wrong)
        with pytest.raises(ValueError, match="max_chunks_per_document"):
            SelectionLimits(max_chunks_per_document=wrong)


def test_R11_every_candidate_that_was_left_out_is_told_with_its_reason() -> None:
    """Floor, duplicate, cap and return-n each name what they dropped, its rank and similarity."""
    found = ranked(
        hit("a", 0, 0.9), hit("a", 0, 0.85), hit("a", 1, 0.8), hit("a", 2, 0.7),
        hit("b", 0, 0.6), hit("c", 0, 0.5), hit("d", 0, 0.1),
    )  # fmt: skip
    accepted, drops = select(found, SelectionLimits(return_n=3, floor=0.2))
    assert keys(accepted) == ["a#chunk-0", "a#chunk-1", "b#chunk-0"]
    assert set(drops) == {
        Drop("d#chunk-0", DropReason.BELOW_FLOOR, 7, 0.1),
        Drop("a#chunk-0", DropReason.DUPLICATE, 2, 0.85),
        Drop("a#chunk-2", DropReason.DOCUMENT_CAP, 4, 0.7),
        Drop("c#chunk-0", DropReason.RETURN_N, 6, 0.5),
    }
    assert len(accepted) + len(drops) == len(found)


def test_R11_no_candidates_give_nothing() -> None:
    """Selection of nothing is nothing."""
    assert select((), SelectionLimits()) == ((), ())


@pytest.mark.parametrize(("floor", "count"), [(0.0, 3), (0.5, 2), (0.51, 1), (1.0, 0)])
def test_R53_the_floor_keeps_what_is_at_or_above_it(floor: float, count: int) -> None:
    """A similarity equal to the floor is evidence, one below is dropped."""
    found = ranked(hit("a", 0, 0.9), hit("b", 0, 0.5), hit("c", 0, 0.0))
    accepted, drops = select(found, SelectionLimits(floor=floor))
    assert len(accepted) == count
    assert {drop.reason for drop in drops} <= {DropReason.BELOW_FLOOR}
    assert len(drops) == 3 - count


def test_R53_the_floor_judges_a_fused_hit_by_its_dense_similarity() -> None:
    """The fused number is no similarity; the dense one beside it decides; none passes."""
    fused = Score(0.016, ScoreSemantics.RANK_FUSED)
    found = ranked(
        hit("near", 0, fused, similarity_score=cosine(0.8)),
        hit("far", 0, fused, similarity_score=cosine(0.1)),
        hit("unknown", 0, fused),
    )
    accepted, drops = select(found, SelectionLimits(floor=0.5))
    assert keys(accepted) == ["near#chunk-0", "unknown#chunk-0"]
    assert drops == (Drop("far#chunk-0", DropReason.BELOW_FLOOR, 2, 0.1),)


def test_C01_C08_equal_texts_of_two_documents_are_two_blocks() -> None:
    """The text decides nothing: each keeps its own document and chunk."""
    text = "Retry after 30 s."
    accepted, drops = select(
        ranked(hit("a", 3, 0.9, content=text), hit("b", 7, 0.9, content=text)), SelectionLimits()
    )
    identities = [
        (one.candidate.identity.doc_id, one.candidate.identity.chunk_index) for one in accepted
    ]
    assert identities == [("a", 3), ("b", 7)]
    assert drops == ()


def test_C02_one_paragraph_in_two_files_comes_back_twice() -> None:
    """Two files that share a paragraph are two documents, and nothing counts as duplicate."""
    shared = "The same paragraph."
    found = ranked(
        hit("file_a.txt", 0, 0.8, content=shared), hit("file_b.txt", 0, 0.8, content=shared)
    )
    accepted, drops = select(found, SelectionLimits())
    assert keys(accepted) == ["file_a.txt#chunk-0", "file_b.txt#chunk-0"]
    assert sum(drop.reason is DropReason.DUPLICATE for drop in drops) == 0


def test_C04_chunks_of_one_file_both_stay() -> None:
    """guide#chunk-0 and guide#chunk-4 of one path are two blocks."""
    found = ranked(hit("guide", 0, 0.9, source="guide.md"), hit("guide", 4, 0.8, source="guide.md"))
    assert keys(select(found, SelectionLimits())[0]) == ["guide#chunk-0", "guide#chunk-4"]


def test_C05_one_text_twice_in_a_document_is_two_chunks() -> None:
    """The slide Agenda at index 1 and at index 9 comes back as two."""
    found = ranked(hit("deck", 1, 0.9, content="Agenda"), hit("deck", 9, 0.9, content="Agenda"))
    assert keys(select(found, SelectionLimits())[0]) == ["deck#chunk-1", "deck#chunk-9"]


def test_C06_hits_without_index_are_not_lost() -> None:
    """Two hits of a document without indices and with equal beginnings both stay."""
    header = "| name | value |" * 20
    found = ranked(hit("t", None, content=header + "1"), hit("t", None, content=header + "2"))
    accepted, drops = select(found, SelectionLimits())
    assert [one.candidate.content[-1] for one in accepted] == ["1", "2"]
    assert drops == ()


def test_C11_the_room_that_the_cap_frees_goes_to_other_documents() -> None:
    """Of a#0..a#7, b#0, c#0 with cap 2 and return-n 4: two of a, then b and c."""
    hits = [*(hit("a", n, 0.9 - n / 100) for n in range(8)), hit("b", 0, 0.6), hit("c", 0, 0.5)]
    accepted, drops = select(ranked(*hits), SelectionLimits(return_n=4, max_chunks_per_document=2))
    assert keys(accepted) == ["a#chunk-0", "a#chunk-1", "b#chunk-0", "c#chunk-0"]
    assert told(drops) == [(f"a#chunk-{n}", "document_cap") for n in range(2, 8)]


def test_C11_a_lone_document_gives_two_blocks_and_the_hint_says_so() -> None:
    """Where only a matches, two blocks stay and completeness names the cap."""
    accepted, drops = select(ranked(*(hit("a", n, 0.9) for n in range(8))), SelectionLimits())
    assert len(accepted) == 2
    hint, sentence = completeness([block(), block()], drops, ContextPackSummary(100, 10))
    assert hint is CompletenessHint.CAPPED_PER_DOCUMENT
    assert "6 more chunks" in sentence


def test_C26_a_nan_distance_never_ranks_above_a_number_by_its_similarity() -> None:
    """A broken hit has no similarity and is not taken for a near one."""
    nan = hit("nan", 0, Score(math.nan, ScoreSemantics.L2_SQUARED))
    accepted, _ = select(ranked(nan, hit("a", 0, Score(0.1, ScoreSemantics.L2_SQUARED))), WIDE)
    assert keys(accepted) == ["a#chunk-0", "nan#chunk-0"]
    assert accepted[1].candidate.similarity is None


def test_C61_overlapping_windows_do_not_fill_the_answer() -> None:
    """Windows of one document are capped, and the drops say so."""
    windows = [hit("doc", n, 0.9 - n / 100, content=f"window {n}") for n in range(3)]
    accepted, drops = select(ranked(*windows, hit("other", 0, 0.5)), SelectionLimits())
    assert keys(accepted) == ["doc#chunk-0", "doc#chunk-1", "other#chunk-0"]
    assert told(drops) == [("doc#chunk-2", "document_cap")]
