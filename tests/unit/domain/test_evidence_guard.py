"""References, quotes and verdicts of the evidence guard (R39)."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.unit.domain.samples import block, result

from evidence_lookup.domain.errors import CallerError
from evidence_lookup.domain.evidence_guard import (
    EvidenceGuard,
    GuardReport,
    QuoteState,
    ReferenceVerdict,
)
from evidence_lookup.domain.result import LookupResult

SENTINEL = "redis/sentinel#chunk-3"
REVIEW = "事故复盘#chunk-1"
PRIMARY = "guide [v2], part 1#chunk-0"
TEXTS = {
    SENTINEL: "Sentinel promotes a replica after **30 seconds**. The limit is 100 connections per "
    "node, or 1.5 per client — don't raise it.\n- Use `redis-cli` to check.",
    REVIEW: "数据库连接池耗尽时，请先扩容 Redis 集群，再重启服务。重启前通知值班经理。",
    PRIMARY: "Never restart the primary before the replicas are in sync.",
    "vector:a[7], b": "Ask the vendor for a new license file.",
    "rank:2": "Page the second line after ten minutes.",
}
GUARD = EvidenceGuard()


def returned() -> LookupResult:
    """A lookup that returned `TEXTS`."""
    return result(*(block(key, text) for key, text in TEXTS.items()))


def check(answer: Any) -> GuardReport:
    """The report on *answer* after that lookup."""
    return GUARD.check(answer, [returned()])


def keys(report: GuardReport) -> list[str | None]:
    """The key of each finding, None where it is not valid."""
    return [one.evidence_key for one in report.findings]


def quotes(report: GuardReport) -> list[tuple[str | None, QuoteState]]:
    """Each quote's state, with the key of its reference."""
    return [(one.evidence_key, quote.state) for one in report.findings for quote in one.quotes]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (f"It fails over [{SENTINEL}].", [SENTINEL]),
        (f"It fails over【{SENTINEL}】。", [SENTINEL]),
        (f"[{SENTINEL}, {REVIEW}]", [SENTINEL, REVIEW]),
        (f"【{SENTINEL}；{REVIEW}、{PRIMARY}】", [SENTINEL, REVIEW, PRIMARY]),
        (f"[{SENTINEL} and {REVIEW}] [{SENTINEL} {REVIEW}]", [SENTINEL, REVIEW] * 2),
        (f"[{PRIMARY}; {SENTINEL}]", [PRIMARY, SENTINEL]),
        (f"[Source: {SENTINEL}] [see {REVIEW}] [来源：{REVIEW}]", [SENTINEL, REVIEW, REVIEW]),
        (f"**[{SENTINEL}]** `[{REVIEW}]` `{SENTINEL}`", [SENTINEL, REVIEW, SENTINEL]),
        (f"[the manual]({SENTINEL}) and ({SENTINEL})", [SENTINEL, SENTINEL]),
        (f"[{SENTINEL}](https://docs.example/x)", [SENTINEL]),
        (f"[{SENTINEL}, lines 5 to 9] [{SENTINEL}: the limit]", [SENTINEL, SENTINEL]),
        (f"[see the manual [{SENTINEL}] for more]", [SENTINEL]),
        ("[redis/sentinel\n  #chunk-3]", [None]),
        ("[guide [v2],\n  part 1#chunk-0]", [PRIMARY]),
        (r"\[redis/sentinel\#chunk-3\]", [SENTINEL]),
        ("参见redis/sentinel#chunk-3。", [SENTINEL]),
        (f"参见 {REVIEW}。", [REVIEW]),
        (f"{SENTINEL}'s limit, or <cite>{SENTINEL}</cite>", [SENTINEL, SENTINEL]),
        (f"【{SENTINEL}†source】 【{REVIEW}†L1-L3】", [SENTINEL, REVIEW]),
        ("[vector:a[7], b] [rank:2]", ["vector:a[7], b", "rank:2"]),
        (f"```\nlog [{SENTINEL}]\n```", [SENTINEL]),
        (f'["{SENTINEL}", "{REVIEW}"]', [SENTINEL, REVIEW]),
    ],
)
def test_R39_references_are_found_as_models_write_them(
    answer: str, expected: list[str | None]
) -> None:
    """Each form names its keys, in order."""
    assert keys(check(answer)) == expected


@pytest.mark.parametrize(
    "unknown",
    [
        "redis/sentinel#chunk-4",
        "redis/sentinel#chunk-30",
        "redis/sentinel",
        "my redis/sentinel#chunk-3",
        "x/redis/sentinel#chunk-3",
        "Redis/Sentinel#chunk-3",
        "redis/sentinel#chunk-3#chunk-1",
        "#chunk-1#chunk-3",
        "guide [v3], part 1#chunk-0",
        "新事故复盘#chunk-1",
        "vector:b",
        "rank:1",
    ],
)
def test_R39_an_id_that_was_not_returned_is_unknown(unknown: str) -> None:
    """Though it is much like a returned one; in brackets, and as an id in JSON."""
    in_json = check({"document_id": unknown})
    assert in_json.unknown_ids == (unknown,)
    assert not in_json.ok
    if "#" in unknown or ":" in unknown:
        report = check(f"It fails over [{unknown}].")
        assert report.unknown_ids == (unknown,)
        assert (report.ok, report.cited_keys) == (False, ())


def test_R39_a_range_of_chunks_is_no_key() -> None:
    """Only the ids themselves are citable."""
    assert check("[redis/sentinel#chunk-3-5]").unknown_ids == ("redis/sentinel#chunk-3-5",)


def test_C62_an_id_is_independent_of_its_position() -> None:
    """`[ID:4]` is told as positional in every order of the blocks, and the key is valid in each."""
    blocks = [block(key, text) for key, text in TEXTS.items()]
    answer = f"It fails over [ID:4], that is [{SENTINEL}]."
    reports = [GUARD.check(answer, [result(*order)]) for order in (blocks, blocks[::-1])]
    assert reports[0] == reports[1]
    verdicts = [one.verdict for one in reports[0].findings]
    assert verdicts == [ReferenceVerdict.POSITIONAL, ReferenceVerdict.VALID]


def test_C63_one_chunk_with_two_contents_is_one_key() -> None:
    """A chunk that two lookups returned cut differently: a quote of either stands in it."""
    halves = [result(block(SENTINEL, half)) for half in TEXTS[SENTINEL].split("The limit")]
    answer = f'"Sentinel promotes a replica" and "100 connections per node" [{SENTINEL}].'
    report = GUARD.check(answer, halves)
    assert report.ok
    assert report.quote_counts["quote_found"] == 2


def test_C64_a_position_beyond_what_was_shown_is_reported() -> None:
    """The model cites `[5]` of 4 blocks, and a document that it never saw."""
    four = result(*(block(f"d{n}#chunk-0") for n in range(4)))
    report = GUARD.check("So it is [5], and so [d4#chunk-0], and so [d3#chunk-0].", [four])
    assert [(one.reference, one.verdict.value) for one in report.findings] == [
        ("5", "positional"),
        ("d4#chunk-0", "unknown"),
        ("d3#chunk-0", "valid"),
    ]
    assert not report.ok
    assert report.verdict_counts == {"valid": 1, "unknown": 1, "positional": 1}


@pytest.mark.parametrize(
    "answer",
    ["[5]", "in 30 s[5].", "故障转移[5]。", "so [1, 2]", "so [1][2].", "[ID: 4]", "[Document 4]",
     "【4:0†source】", "[#chunk-3]", "[1-3]", "[来源 3]", "[citation:3]", '{"document_id": 5}',
     '{"document_ids": ["[5]"]}'],
)  # fmt: skip
def test_R39_positions_are_never_valid(answer: str) -> None:
    """Whatever they are called."""
    report = check(answer)
    assert {one.verdict for one in report.findings} == {ReferenceVerdict.POSITIONAL}
    assert not report.ok


@pytest.mark.parametrize(
    "answer",
    ["[INFO] up", "list[str]", "- [ ] a\n- [x] b", "[text](url)", "[5](url)", "a[^1]\n\n[^1]: b",
     "arr[5] = 1", "m[1][2] + 1", "`[5]`", "```\n[5]\n```", "within [0, 1]", "in [2024]",
     "[1]: https://x", "#chunk-3", "[see above]", "Figure [A]", "[]", "", "rank:1 and vector:x"],
)  # fmt: skip
def test_ordinary_brackets_are_no_references(answer: str) -> None:
    """Prose, code, Markdown: an answer with nothing else is uncited, which is told."""
    report = check(answer)
    assert report.findings == ()
    assert (report.uncited, report.ok) == (True, True)


@pytest.mark.parametrize(
    "answer",
    [
        f'"sentinel PROMOTES a replica\nafter 30 seconds" [{SENTINEL}].',
        f"“Sentinel promotes a replica … don’t raise it.” [{SENTINEL}]",
        f'"Sentinel promotes […] 100 connections" [{SENTINEL}]',
        f'It says "1.5 per client - don\'t raise it" [{SENTINEL}].',
        f'[{SENTINEL}] says "use redis-cli to check".',
        f"According to [{SENTINEL}], «Sentinel promotes a replica», and so on.",
        f'"Sentinel promotes a replica after 30 seconds." [{SENTINEL}]',
        f'"Sentinel promotes a replica [{SENTINEL}]."',
        f"> Sentinel promotes a replica\n> after 30 seconds.\n\n— [{SENTINEL}]",
        f"> Sentinel promotes a replica [{SENTINEL}].",
        f"In [{SENTINEL}]:\n\n> Sentinel promotes a replica",
        f"- “Sentinel promotes a replica” [{SENTINEL}]\n- other",
        f'| "Sentinel promotes a replica" | [{SENTINEL}] |',
    ],
)
def test_R39_a_quote_in_the_excerpt_is_found(answer: str) -> None:
    """However it is typeset, and before or behind its reference."""
    assert quotes(check(answer)) == [(SENTINEL, QuoteState.FOUND)]


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("「数据库连接池耗尽时，请先扩容Redis集群」[事故复盘#chunk-1]", QuoteState.FOUND),
        ("『数据库连接池耗尽时,请先扩容 Ｒｅｄｉｓ 集群』【事故复盘#chunk-1】", QuoteState.FOUND),
        ("“请先扩容……通知值班经理” [事故复盘#chunk-1]", QuoteState.FOUND),
        ("[事故复盘#chunk-1]指出：“请先扩容\nRedis 集群”。", QuoteState.FOUND),
        ("「数据库连接池耗尽时，请先重启服务」[事故复盘#chunk-1]", QuoteState.NOT_FOUND),
        ("“通知值班经理……请先扩容” [事故复盘#chunk-1]", QuoteState.NOT_FOUND),
    ],
)
def test_R39_quotes_in_chinese_need_no_spaces(answer: str, state: QuoteState) -> None:
    """White space beside CJK characters, full-width forms and quote marks do not matter."""
    assert quotes(check(answer)) == [(REVIEW, state)]


@pytest.mark.parametrize(
    "quote",
    ["The limit is 10 connections", "the limit is 1", "or 1 per client", "or 1.55 per client",
     "100 connections … promotes a replica", "Sentinel never promotes a replica"],
)  # fmt: skip
def test_R39_a_quote_that_is_not_in_the_excerpt_is_told(quote: str) -> None:
    """Another number, a part of a word or number, another order, another word."""
    report = check(f'So "{quote}" [{SENTINEL}].')
    assert [quote.state for one in report.findings for quote in one.quotes] == (
        [QuoteState.NOT_FOUND]
    )
    assert not report.ok


def test_R39_a_quote_of_another_excerpt_says_which() -> None:
    """The words are real, the reference is wrong; of an unknown reference too."""
    for reference in (SENTINEL, "other#chunk-9"):
        report = check(f'"never restart the primary" [{reference}]')
        ((quote,),) = (one.quotes for one in report.findings)
        assert (quote.state, quote.found_in) == (QuoteState.NOT_FOUND, (PRIMARY,))


def test_R39_each_quote_belongs_to_its_own_reference() -> None:
    """Between two references a quote may belong to either; adjoining references are one."""
    report = check(
        f'[{SENTINEL}] says "Sentinel promotes a replica", and [{PRIMARY}] says '
        f'"never restart the primary". "请先扩容 Redis 集群" and "never restart the primary" '
        f"[{REVIEW}][{PRIMARY}]."
    )
    assert {state for _, state in quotes(report)} == {QuoteState.FOUND}
    assert [key for key, _ in quotes(report)] == [SENTINEL, PRIMARY, REVIEW, PRIMARY]


@pytest.mark.parametrize(
    "answer",
    [
        f'The "ready" flag and the "big red button" are two things. So it is [{SENTINEL}].',
        f"It's what Redis' sentinel doesn't do [{SENTINEL}].",
        f"> **Note:** nothing of this is quoted [{SENTINEL}].",
        f"> [!TIP]\n> nothing of this is quoted [{SENTINEL}].",
        f'A 19" rack and a 21" screen [{SENTINEL}].',
        f'"不是引文" [{SENTINEL}]',
        f'See ["{SENTINEL}"], [“{PRIMARY}”, "{REVIEW}"] and [evidence_key: "{SENTINEL}"].',
    ],
)
def test_names_and_callouts_are_no_quotations(answer: str) -> None:
    """Few words, apostrophes, inches, callouts, quotes in another sentence, marks around a key."""
    assert quotes(check(answer)) == []


def test_R39_anthropic_citations_carry_the_key_as_source_or_title() -> None:
    """`cited_text` is the quote; a citation by index alone is positional."""
    content: list[dict[str, Any]] = [
        {
            "type": "text",
            "text": 'So "never restart the primary".',
            "citations": [
                {
                    "type": "search_result_location",
                    "cited_text": "Never restart the primary",
                    "source": PRIMARY,
                    "title": "Guide",
                    "search_result_index": 0,
                    "start_block_index": 0,
                    "end_block_index": 1,
                },
                {
                    "type": "char_location",
                    "cited_text": "Sentinel promotes two replicas",
                    "document_index": 1,
                    "document_title": SENTINEL,
                    "start_char_index": 0,
                    "end_char_index": 30,
                },
                {"type": "page_location", "cited_text": "x", "document_title": "Manual"},
                {"type": "content_block_location", "cited_text": "x", "document_index": 3},
            ],
        },
        {"type": "text", "text": f"And so [{REVIEW}].", "citations": None},
    ]
    report = check({"role": "assistant", "content": content})
    assert keys(report) == [PRIMARY, SENTINEL, None, None, REVIEW]
    assert [one.quote_state for one in report.findings[:2]] == [
        QuoteState.FOUND,
        QuoteState.NOT_FOUND,
    ]
    assert len(report.findings[0].quotes) == 2
    assert report.findings[1].path == "$.content[0].citations[1]"
    assert report.unknown_ids == ("Manual",)
    assert report.verdict_counts["positional"] == 1
    assert keys(check(content)) == keys(report)


def test_R39_openai_annotations_carry_the_key_as_file_or_url() -> None:
    """Flat and nested; the mark that an annotation stands for is no reference of its own."""
    marked = "Never restart 【4:0†source】. It is so."
    span = {"start_index": 14, "end_index": 27}
    shapes: Sequence[dict[str, Any]] = [
        {"type": "output_text", "text": marked, "annotations": [
            {"type": "file_citation", "file_id": "file-1", "filename": PRIMARY, "index": 14},
            {"type": "url_citation", "url": SENTINEL, "title": "T", **span},
            {"type": "file_path", "file_id": "file-2", "index": 0},
        ]},
        {"role": "assistant", "content": marked, "annotations": [
            {"type": "url_citation", "url_citation": {"url": PRIMARY, "title": "T", **span}},
            {"type": "url_citation", "url_citation": {"url": "u", "title": SENTINEL, **span}},
        ]},
        {"type": "text", "text": {"value": marked, "annotations": [
            {"type": "file_citation", "text": "【4:0†source】", **span,
             "file_citation": {"file_id": PRIMARY, "quote": "the replicas are in sync"}},
            {"type": "file_citation", "text": "", **span, "file_citation": {"file_id": SENTINEL}},
        ]}},
    ]  # fmt: skip
    reports = [check({"output": [{"content": [shape]}]}) for shape in shapes]
    for report in reports:
        assert (keys(report), report.ok) == ([PRIMARY, SENTINEL], True)
    assert [report.quote_counts["quote_found"] for report in reports] == [0, 0, 1]
    other = check({"annotations": [{"type": "url_citation", "url": "https://x", "title": "X"}]})
    assert other.unknown_ids == ("https://x",)


def test_R39_json_in_a_text_is_read_as_json() -> None:
    """A fenced block with its path and offset, in order with the references around it."""
    answer = (
        f"So [{SENTINEL}].\n```json\n"
        f'{{"cited": [{{"document_id": "{PRIMARY}", "quote": "never restart the replica"}}]}}\n'
        f"```\nAnd [{REVIEW}]. ```[5]``` "
    )
    report = check(answer)
    assert keys(report) == [SENTINEL, PRIMARY, REVIEW]
    inner = report.findings[1]
    assert inner.path == f"$@{answer.index('```')}.cited[0].document_id"
    assert inner.quote_state is QuoteState.NOT_FOUND


def test_R39_a_quote_in_json_belongs_to_whichever_of_several_ids_holds_it() -> None:
    """As in a text; one that none of them holds is told once."""
    quote = "never restart the primary"
    for ids in ([SENTINEL, PRIMARY], [PRIMARY, SENTINEL]):
        report = check({"document_ids": ids, "quote": quote})
        assert (report.ok, quotes(report)) == (True, [(PRIMARY, QuoteState.FOUND)])
    report = check({"document_id": 5, "evidence_keys": [SENTINEL, PRIMARY], "quote": f"{quote}!s"})
    assert quotes(report) == [(SENTINEL, QuoteState.NOT_FOUND)]


@pytest.mark.parametrize("name", ["id", "source", "document", "chunk"])
def test_R39_a_quote_in_json_is_checked_whatever_its_id_is_called(name: str) -> None:
    """An object with a quote and a text of the form of a key is a citation."""
    cited = {"n": "1", name: PRIMARY, "quote": "never restart the replicas"}
    report = check({"text": f"See [{REVIEW}].", "citations": [cited]})
    assert keys(report) == [REVIEW, PRIMARY]
    assert quotes(report) == [(PRIMARY, QuoteState.NOT_FOUND)]
    assert check({name: "other#chunk-9", "quote": "x"}).unknown_ids == ("other#chunk-9",)
    assert check({name: "My Guide", "quote": "x"}).findings == ()


def test_a_list_of_prose_is_no_list_of_ids() -> None:
    """Texts with white space, none of which looks like a key, are read as texts."""
    assert check(["Restart the pod", f"See [{REVIEW}]"]).cited_keys == (REVIEW,)
    assert check(["guide", "manual"]).unknown_ids == ("guide", "manual")
    assert check({"sources": ["My Guide#chunk-9"]}).unknown_ids == ("My Guide#chunk-9",)


def test_R39_no_lookup_returned_anything() -> None:
    """Then every reference is unknown."""
    assert GUARD.check(f"[{SENTINEL}]", []).unknown_ids == (SENTINEL,)


@pytest.mark.parametrize("answer", [None, 5, b"bytes", object()])
def test_other_values_are_no_answers(answer: object) -> None:
    """A clear error of the caller's, for the results too."""
    with pytest.raises(CallerError, match="must be a text, a dict or a list"):
        check(answer)
    wrong: Any = [answer]
    with pytest.raises(CallerError, match="LookupResult"):
        GUARD.check("x", wrong)
