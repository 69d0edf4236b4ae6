"""Rows of an index, both ways."""

import json
from typing import Any

import pytest
from attrs import evolve

from evidence_lookup.adapters.elasticsearch.layout import Layout
from evidence_lookup.adapters.elasticsearch.rows import deleted, found_row, row_id, written
from evidence_lookup.adapters.elasticsearch.settings import ElasticsearchSettings
from evidence_lookup.domain.errors import InvalidChunkError
from evidence_lookup.domain.hit import SearchMode
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.ports.knowledge_store import EmbeddedChunk
from evidence_lookup.testing.knowledge_samples import embedded, unit

SETTINGS = ElasticsearchSettings()
OWN = Layout("knowledge", 4, "cosine", True, "keyword_text", "model", {"properties": {}})
FOREIGN = evolve(OWN, model=None, keyword_field="content")


def row(one: EmbeddedChunk, layout: Layout = OWN, **options: Any) -> dict[str, Any]:
    """The row that writes *one*."""
    (action,) = written([one], layout, SETTINGS, **options)
    body: dict[str, Any] = json.loads(action.lines[1])
    return body


def test_a_row_of_an_own_index() -> None:
    """It holds the chunk as it is, and beside it terms to search, filter, order and delete by."""
    one = embedded("a", 2, "Redis 豆腐汤", category="ops", level=3)
    made = row(one, version=7)
    assert made["content"] == "Redis 豆腐汤"
    assert made["metadata"] == one.chunk.metadata()
    assert made["vector"] == unit(1).tolist()
    assert made["keyword_text"] == "redis 豆腐 腐汤"
    assert {'category="ops"', "level=3", "chunk_index=2"} <= set(made["filter_terms"])
    assert (made["evidence_key"], made["doc_id"], made["version"]) == ("a#chunk-2", "a", 7)


def test_a_row_of_an_index_of_others() -> None:
    """It holds only the fields that the settings name, and words only if there is a field."""
    assert row(embedded("a"), FOREIGN, version=7).keys() == {"content", "vector", "metadata"}
    with_words = evolve(FOREIGN, keyword_field="keyword_text")
    assert row(embedded("a"), with_words)["keyword_text"] == "-\n\ntext"


@pytest.mark.parametrize("size", [100, 503, 504, 505, 2_000])
def test_C44_ids_fit(size: int) -> None:
    """An ``_id`` is the key while the server takes it, and a digest of its own beyond that."""
    key = "文" * (size // 3) + "x" * (size % 3) + "#chunk-0"
    assert len(row_id(key).encode()) <= 512
    assert (row_id(key) == key) == (size + 8 <= 512)
    assert row_id(key) != row_id(key + "1")


def test_C44_a_key_beyond_any_field_is_refused() -> None:
    """A key that no index can order by is refused at the door, not by the server."""
    with pytest.raises(InvalidChunkError, match=r"32766"):
        row(embedded("d" * 40_000))


@pytest.mark.parametrize("place", ["content", "title", "source", "scope"])
def test_lone_surrogates_are_refused(place: str) -> None:
    """Text that is no UTF-8 would spoil the whole request, and is refused with its key."""
    one = embedded("a")
    value: Any = {"tenant": "\ud800"} if place == "scope" else "x\ud800"
    with pytest.raises(InvalidChunkError, match=r"'a#chunk-0'.*surrogate"):
        row(EmbeddedChunk(evolve(one.chunk, **{place: value}), one.vector))


def test_the_last_of_a_key_stays() -> None:
    """Of chunks with one key the last one is written, and nothing is written twice."""
    actions = written([embedded("a", 0, "old"), embedded("a", 0, "new")], OWN, SETTINGS)
    assert [json.loads(one.lines[1])["content"] for one in actions] == ["new"]


def test_sizes_are_those_on_the_wire() -> None:
    """The size of an action is what its lines take, line ends included."""
    (one,) = written([embedded("a", 0, "麻婆豆腐")], OWN, SETTINGS)
    (gone,) = deleted(["a#chunk-0"])
    assert one.size == len(b"\n".join(one.lines) + b"\n")
    assert gone.lines == (b'{"delete":{"_id":"a#chunk-0"}}',)


@pytest.mark.parametrize("mode", [SearchMode.DENSE, SearchMode.KEYWORD])
def test_C24_a_hit_without_a_score(mode: SearchMode) -> None:
    """A null score is no score, with semantics that say so; it is neither 0 nor an error."""
    hit = {"_id": "a", "_score": None, "_source": {"content": "x"}}
    assert found_row(hit, mode, FOREIGN, SETTINGS).score == Score(None, ScoreSemantics.RANK_ONLY)


def test_hits_of_odd_shapes() -> None:
    """Missing fields, lists of texts and metadata that are no object are read as far as they go."""
    bare = found_row({"_id": 7, "_score": 1.0}, SearchMode.KEYWORD, FOREIGN, SETTINGS)
    assert (bare.id, bare.content, bare.metadata, bare.vector) == ("7", "", {}, None)
    source = {"content": ["a", "b"], "metadata": ["x"], "version": "new"}
    listed = found_row(
        {"_id": "1", "_score": 1.0, "_source": source}, SearchMode.KEYWORD, FOREIGN, SETTINGS
    )
    assert (listed.content, listed.metadata, listed.version) == ("a\nb", {}, None)
