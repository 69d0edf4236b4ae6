"""Candidates and blocks (R20, R40 to R42)."""

from typing import Any

import pytest
from attrs import fields
from tests.unit.domain.samples import block, candidate, cosine, hit, ranked, result

from evidence_lookup.domain.candidate import candidates_from
from evidence_lookup.domain.compatibility import CompatibilityView, compatibility_view
from evidence_lookup.domain.evidence import EvidenceBlock, RetrievalLayer, evidence_block
from evidence_lookup.domain.hit import FoundBy, SearchMode
from evidence_lookup.domain.result import LookupResult


def test_R20_the_layers_are_spelled_as_recorded() -> None:
    """L1 alone, or L0 and L1 together; L0 alone does not exist."""
    assert [layer.value for layer in RetrievalLayer] == ["L1", "L0+L1"]


def test_R40_the_result_has_the_names_of_the_contract() -> None:
    """The keys that an agent reads are spelled exactly so."""
    assert {field.name for field in fields(LookupResult)} >= {
        "found", "evidence_status", "evidence_blocks", "context_pack", "retrieval_trace",
        "rerank_trace", "relevance_level", "completeness_hint", "message",
    }  # fmt: skip


def test_R41_the_block_has_the_names_of_the_contract() -> None:
    """The keys of an evidence block are spelled exactly so."""
    assert {field.name for field in fields(EvidenceBlock)} >= {
        "evidence_key", "doc_id", "chunk_index", "source", "title", "breadcrumb", "category",
        "retrieval_layer", "score", "content", "hit_reasons",
    }  # fmt: skip


def test_R41_a_block_carries_what_its_candidate_knows() -> None:
    """Identity, metadata, layer, score, content and reasons all come from the candidate."""
    (one,) = ranked(
        hit("a", 2, 0.8, content="Text.", source="a.md", title="T", breadcrumb="T > P",
            category="db", start=10, end=15, found_by=(FoundBy(SearchMode.DENSE, 1),))
    )  # fmt: skip
    assert evidence_block(one, RetrievalLayer.L0_L1) == EvidenceBlock(
        evidence_key="a#chunk-2",
        doc_id="a",
        chunk_index=2,
        source="a.md",
        title="T",
        breadcrumb="T > P",
        category="db",
        retrieval_layer=RetrievalLayer.L0_L1,
        score=cosine(0.8),
        similarity=0.8,
        content="Text.",
        hit_reasons=("dense:rank 1",),
        start=10,
        end=15,
    )


def test_R41_what_the_metadata_lacks_is_none() -> None:
    """A bare hit has neither title, breadcrumb, category nor offsets; its source is its id."""
    made = evidence_block(ranked(hit("a", 0))[0], RetrievalLayer.L1)
    assert (made.title, made.breadcrumb, made.category, made.start, made.end) == (None,) * 5
    assert made.source == "a"
    assert evidence_block(ranked(hit(None, None))[0], RetrievalLayer.L1).source is None


def test_R42_primary_is_the_best_block_and_supplement_the_rest() -> None:
    """The older view is derived from the blocks, in their order."""
    one, two, three = (block(f"a#chunk-{n}") for n in range(3))
    assert compatibility_view(result(one, two, three)) == CompatibilityView(one, (two, three))
    assert compatibility_view(result(one)) == CompatibilityView(one, ())
    assert compatibility_view(result()) == CompatibilityView(None, ())


def test_candidates_are_ranked_from_one_in_the_ports_order() -> None:
    """The port's order is the original rank, with scores left unread."""
    found = candidates_from([hit("a", 0, 0.1), hit("b", 0, 0.9)])
    assert [(one.evidence_key, one.original_rank) for one in found] == [
        ("a#chunk-0", 1),
        ("b#chunk-0", 2),
    ]
    assert candidates_from([]) == ()


@pytest.mark.parametrize(
    ("value", "text"), [("T", "T"), (3, "3"), (0, "0"), ("", None), (" \n", None), (None, None)]
)
def test_a_metadata_text_is_text_or_nothing(value: Any, text: str | None) -> None:
    """Blank counts as missing, and a number reads as its text."""
    assert candidate(title=value).text("title") == text
    assert candidate().text("title") is None


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (["a", 1], ("a", "1")),
        (("a",), ("a",)),
        ("a", ("a",)),
        ([], ()),
        (None, ()),
        (3, ()),
        ({}, ()),
    ],
)
def test_a_metadata_list_is_a_list_of_texts(value: Any, texts: tuple[str, ...]) -> None:
    """One text is a list of one, and what is no list is empty."""
    assert candidate(keywords=value).texts("keywords") == texts


@pytest.mark.parametrize(
    ("value", "number"), [(0, 0), (7, 7), (True, None), ("7", None), (7.5, None), (None, None)]
)
def test_a_metadata_number_is_a_whole_number_or_nothing(value: Any, number: int | None) -> None:
    """Booleans and texts are no offsets."""
    assert candidate(start=value).number("start") == number
