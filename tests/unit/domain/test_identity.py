"""Which chunk a hit is (R01 to R04)."""

import math

import pytest
from tests.unit.domain.samples import hit, keys, ranked, result

from evidence_lookup.domain.candidate import candidates_from
from evidence_lookup.domain.evidence import RetrievalLayer, evidence_block
from evidence_lookup.domain.identity import Identity, evidence_key, identify, parse_evidence_key
from evidence_lookup.domain.pack import pack
from evidence_lookup.domain.projection import project
from evidence_lookup.domain.selection import SelectionLimits, select
from evidence_lookup.domain.text import estimate_tokens
from evidence_lookup.domain.trace import rerank_trace


@pytest.mark.parametrize("doc_id", ["docId", "doc_id"])
@pytest.mark.parametrize("chunk_index", ["chunkIndex", "chunk_index"])
def test_R01_both_spellings_of_both_names_give_the_key(doc_id: str, chunk_index: str) -> None:
    """A document id and a chunk index make the key, whichever way their names are written."""
    found = identify({doc_id: "guide", chunk_index: 3}, hit_id="7", original_rank=1)
    assert found == Identity("guide#chunk-3", "guide", 3)


@pytest.mark.parametrize("index", [3, 3.0, "3", "3.0", " 3 ", "03"])
def test_R01_a_whole_number_is_one_index_however_it_is_written(index: object) -> None:
    """Integers as text or as floats give the same key as integers."""
    found = identify({"doc_id": "a", "chunk_index": index}, hit_id=None, original_rank=1)
    assert found == Identity("a#chunk-3", "a", 3)


@pytest.mark.parametrize(
    "index",
    [None, "", " ", "three", 3.5, "3.5", -1, "-1", True, math.nan, math.inf, "inf", "nan", [3],
     "1e999", "9" * 5_000],
)  # fmt: skip
def test_R01_what_is_no_whole_number_is_no_index(index: object) -> None:
    """Anything but a whole number from 0 counts as a missing index, and never raises."""
    found = identify({"doc_id": "a", "chunk_index": index}, hit_id="7", original_rank=1)
    assert found == Identity("vector:7", "a", None)


@pytest.mark.parametrize("doc_id", [None, "", " ", "\n\t", True])
def test_R01_a_blank_document_id_counts_as_absent(doc_id: object) -> None:
    """Without a document id the store's id names the chunk."""
    found = identify({"doc_id": doc_id, "chunk_index": 3}, hit_id="7", original_rank=1)
    assert found == Identity("vector:7", None, 3)


def test_R01_a_blank_spelling_does_not_hide_the_other() -> None:
    """Where one spelling is blank or no number, the other one is read."""
    metadata = {"docId": " ", "doc_id": "a", "chunkIndex": "x", "chunk_index": 0}
    assert identify(metadata, hit_id=None, original_rank=1).evidence_key == "a#chunk-0"


def test_R01_a_number_is_a_document_id() -> None:
    """An id that is a number, 0 included, is read as its text."""
    found = identify({"doc_id": 0, "chunk_index": 0}, hit_id=None, original_rank=1)
    assert found == Identity("0#chunk-0", "0", 0)


@pytest.mark.parametrize(("hit_id", "key"), [("7", "vector:7"), (7, "vector:7"), (0, "vector:0")])
def test_R02_without_an_index_the_stores_id_names_the_chunk(hit_id: object, key: str) -> None:
    """The key is vector:{id}; the document id is kept for the cap."""
    found = identify({"doc_id": "a"}, hit_id=hit_id, original_rank=4)
    assert found == Identity(key, "a", None)
    assert not found.is_synthetic


@pytest.mark.parametrize("hit_id", [None, "", "  "])
def test_R03_without_any_id_the_rank_names_the_chunk(hit_id: object) -> None:
    """The key is rank:{original_rank}, a blank store id counts as none, and it is synthetic."""
    found = identify({}, hit_id=hit_id, original_rank=4)
    assert found == Identity("rank:4")
    assert found.is_synthetic


def test_R03_a_rank_key_is_synthetic_whatever_part_of_an_identity_was_there() -> None:
    """A chunk index without a document, or a document without an index, names no chunk."""
    assert identify({"chunk_index": 5}, hit_id=None, original_rank=1).is_synthetic
    assert identify({"doc_id": "a"}, hit_id=None, original_rank=1).is_synthetic


def test_R03_a_document_that_is_called_rank_is_not_synthetic() -> None:
    """The key of a real chunk may begin like a rank key."""
    found = identify({"doc_id": "rank:1", "chunk_index": 0}, hit_id=None, original_rank=9)
    assert found.evidence_key == "rank:1#chunk-0"
    assert not found.is_synthetic


def test_R04_identity_is_the_same_at_every_step() -> None:
    """Block, pack, projection and rerank trace all show the candidate's key."""
    found = ranked(hit("guide", 4, 0.9), hit(None, None, 0.8, id="7"), hit(None, None, 0.7))
    expected = ["guide#chunk-4", "vector:7", "rank:3"]
    accepted, _ = select(found, SelectionLimits())
    blocks = tuple(evidence_block(one, RetrievalLayer.L1) for one in accepted)
    answer = result(*blocks, context_pack=pack(blocks, 1_000, estimate_tokens))
    assert keys(accepted) == expected
    assert [block.evidence_key for block in blocks] == expected
    assert (blocks[0].doc_id, blocks[0].chunk_index) == ("guide", 4)
    assert [entry.evidence_key for entry in answer.context_pack.entries] == expected
    assert [each.document_id for each in project(answer).evidence] == expected
    assert [entry.evidence_key for entry in rerank_trace(accepted)] == expected


def test_C06_chunks_without_index_and_with_equal_beginnings_have_keys_of_their_own() -> None:
    """Two table chunks with one header get distinct keys, each known as synthetic."""
    header = "| a | b |" * 30
    hits = [hit("t", None, content=header + "1"), hit("t", None, content=header + "2")]
    found = candidates_from(hits)
    assert [each.evidence_key for each in found] == ["rank:1", "rank:2"]
    assert all(each.identity.is_synthetic for each in found)


@pytest.mark.parametrize("doc_id", ["a", "a#chunk-3", "#chunk-", "a[b]/c d", "事故复盘.md", "x\ny"])
def test_a_key_is_read_back_to_what_it_was_made_of(doc_id: str) -> None:
    """The last mark counts, so that an id may hold the mark itself."""
    assert parse_evidence_key(evidence_key(doc_id, 12)) == (doc_id, 12)


@pytest.mark.parametrize(
    "key",
    ["", "a", "vector:7", "rank:1", "#chunk-3", "a#chunk-", "a#chunk-x", "a#chunk--1", "a#chunk-1 ",
     "a#chunk-3.0", "a#chunk-٣", "a#chunk-²", "a#chunk-007", "a#chunk-1\n",
     "a#chunk-" + "9" * 5_000],
)  # fmt: skip
def test_what_evidence_key_did_not_make_is_no_key(key: str) -> None:
    """A key of another form, a foreign digit or a leading zero is refused without raising."""
    assert parse_evidence_key(key) is None
