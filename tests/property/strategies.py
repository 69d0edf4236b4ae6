"""Inputs for the properties: texts of every script, candidates, ranked lists, scopes."""

from typing import Any

from hypothesis import strategies as st

from evidence_lookup.domain.evidence import EvidenceBlock, RetrievalLayer
from evidence_lookup.domain.fusion import RankedList
from evidence_lookup.domain.hints import QueryHints
from evidence_lookup.domain.hit import FoundBy, KnowledgeSearchHit, SearchMode
from evidence_lookup.domain.score import Score, ScoreSemantics
from evidence_lookup.domain.selection import SelectionLimits

_PIECES = [
    "redis", "failover", "a", "B7", "_", " ", "  ", "\n", "\t", "\u3000", ".", ",", "[", "]", "/",
    "#chunk-", "#", "-", "数据库", "连", "。", "カ", "か\u3099", "한글", "\u1112\u1161", "e\u0301",
    "की", "ไทย", "😀", "👩\u200d💻", "❤\ufe0f", "漢\U000e0100", "\u200b", "x" * 20,
]  # fmt: skip

texts = st.one_of(st.text(), st.lists(st.sampled_from(_PIECES), max_size=40).map("".join))
"""Any text, and texts full of the scripts, marks and signs that break cutting and counting."""

doc_ids = texts.filter(str.strip)
"""Document ids: anything that is not blank."""

scores = st.builds(
    Score,
    st.one_of(st.none(), st.floats(-1.0, 4.0), st.sampled_from([0.0, 0.5, 1.0]), st.floats()),
    st.sampled_from(ScoreSemantics),
)
"""Scores of every semantics; often equal, sometimes missing, NaN or huge."""


@st.composite
def hits(draw: st.DrawFn) -> KnowledgeSearchHit:
    """A hit of one of few documents, so that keys repeat; sometimes of none."""
    metadata: dict[str, Any] = {
        "doc_id": draw(st.sampled_from(["a", "b", "c", None])),
        "chunkIndex": draw(st.sampled_from([0, 1, 2, "1", 2.0, None])),
        "title": draw(st.sampled_from(["Redis", "Milvus", None])),
        "category": draw(st.sampled_from(["db", "net", None])),
    }
    mode = draw(st.sampled_from(SearchMode))
    return KnowledgeSearchHit(
        id=draw(st.sampled_from(["7", "8", None])),
        content=draw(st.sampled_from(["redis", "predis", "milvus 数据库", ""])),
        score=draw(scores),
        metadata=metadata,
        similarity_score=draw(st.one_of(st.none(), scores)),
        found_by=draw(st.sampled_from([(), (FoundBy(mode, 1),)])),
    )


hit_lists = st.lists(hits(), max_size=25)

hints = st.builds(
    QueryHints,
    st.sampled_from([(), ("Redis",)]),
    st.sampled_from([(), ("redis",), ("redis", "数据库")]),
    st.sampled_from([(), ("db",), ("db", "net")]),
    st.sampled_from([(), ("milvus",)]),
)

limits = st.builds(
    SelectionLimits,
    return_n=st.integers(1, 12),
    max_chunks_per_document=st.integers(1, 4),
    floor=st.floats(0.0, 1.0),
)

ranked_lists = st.lists(
    st.builds(
        RankedList,
        st.lists(st.tuples(st.sampled_from("abcdefg"), scores), max_size=10).map(tuple),
        st.sampled_from([0.0, 0.3, 1.0, 2.5]),
    ),
    max_size=4,
)

_optional = st.one_of(st.none(), texts)

blocks = st.builds(
    EvidenceBlock,
    evidence_key=doc_ids,
    doc_id=_optional,
    chunk_index=st.one_of(st.none(), st.integers(0)),
    source=_optional,
    title=_optional,
    breadcrumb=_optional,
    category=_optional,
    retrieval_layer=st.sampled_from(RetrievalLayer),
    score=scores,
    similarity=st.one_of(st.none(), st.floats(0.0, 1.0)),
    content=st.one_of(texts, st.tuples(texts, st.integers(1, 30)).map(lambda t: t[0] * t[1])),
    hit_reasons=st.lists(texts, max_size=3).map(tuple),
)

block_lists = st.lists(blocks, max_size=5, unique_by=lambda block: block.evidence_key)
"""Blocks as selection gives them: each key once."""

_choices = st.one_of(
    st.sampled_from(["acme", "evil", "1", "true", '") or true or ("']),
    st.integers(0, 2),
    st.booleans(),
)
scope_values = st.dictionaries(
    st.sampled_from(["tenant", "team", "level"]),
    st.one_of(_choices, st.lists(_choices, min_size=1, max_size=3)),
)
rows = st.dictionaries(
    st.sampled_from(["tenant", "team", "level", "title"]),
    st.one_of(_choices, st.none(), st.floats(), st.lists(_choices, max_size=2)),
)
