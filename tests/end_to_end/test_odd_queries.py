"""Queries that nobody means, through the real model and the embedded database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evidence_lookup import SearchMode, Settings, SyncKnowledgeBase, open_knowledge_base_sync

PAGES = {
    "kettle.md": "# Kettle\n\nThe kettle is descaled with vinegar once a month.\n",
    "teapot.md": "# 茶壶\n\n茶壶每天用热水冲洗，不用洗洁精。\n",
    "log.md": "# Log\n\n" + "".join(f"line {n}: timeout after {n} s\n" for n in range(400)),
}


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SyncKnowledgeBase]:
    """A knowledge base of three pages."""
    docs: Path = tmp_path_factory.mktemp("docs")
    for name, text in PAGES.items():
        (docs / name).write_text(text, encoding="utf-8")
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"))
    with open_knowledge_base_sync(settings) as knowledge:
        knowledge.ingest(docs)
        yield knowledge


@pytest.mark.parametrize("mode", list(SearchMode))
@pytest.mark.parametrize(
    "query",
    [
        "?!… — 。、",
        "kettle\x00 descaled\ud800",
        "\u202eelttek eht si woh\u202c",
        "كيف تُنظَّف الغلاية؟",
        'kettle" or metadata["x"] != "',
        "a" * 5_000,
        "🫖" * 300,
    ],
    ids=["punctuation", "nul-surrogate", "right-to-left", "arabic", "expression", "run", "emoji"],
)
def test_an_odd_query_is_answered_in_the_contract(
    query: str, mode: SearchMode, knowledge: SyncKnowledgeBase
) -> None:
    """Whatever the characters, the answer has a status of a backend that works, and JSON."""
    result = knowledge.lookup(query, mode=mode)
    assert result.evidence_status in ("found", "low_relevance", "no_evidence")
    answer = knowledge.lookup_knowledge(query)
    assert answer["evidence_status"] in ("found", "low_relevance", "no_evidence")
    record = knowledge.trace(result.invocation_id)
    assert record is not None
    assert record.evidence_status is result.evidence_status


@pytest.mark.parametrize("mode", list(SearchMode))
def test_R56_C54_a_pasted_log_is_cut_and_said_so(
    mode: SearchMode, knowledge: SyncKnowledgeBase
) -> None:
    """50 kB are cut for each path by its own limit; the trace says how much."""
    query = ("how is the kettle descaled? " + PAGES["log.md"] * 6)[:50_000]
    result = knowledge.lookup(query, mode=mode)
    cuts = {cut.path: cut for cut in result.query_transform.cuts}
    assert cuts["dense"].length == len(query)
    assert 500 < cuts["dense"].kept < 5_000
    assert ("keyword" in cuts) == (mode is not SearchMode.DENSE)
    record = knowledge.trace(result.invocation_id)
    assert record is not None
    assert len(record.query) <= 2_000


def test_C52_chinese_words_are_found_inside_running_text(knowledge: SyncKnowledgeBase) -> None:
    """The keyword path finds 洗洁精 in a sentence without spaces."""
    result = knowledge.lookup("洗洁精", mode="keyword")
    assert [block.source for block in result.evidence_blocks] == ["teapot.md"]
