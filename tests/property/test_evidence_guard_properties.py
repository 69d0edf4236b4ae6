"""The evidence guard finds every reference, whatever document ids hold (R39)."""

import json
import time
import unicodedata
from collections.abc import Iterable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.property.strategies import texts

from evidence_lookup.adapters.json_values import from_json, to_json
from evidence_lookup.domain.evidence_guard import (
    EvidenceGuard,
    Excerpt,
    GuardReport,
    ReferenceFinding,
    ReferenceVerdict,
)
from evidence_lookup.domain.identity import evidence_key

_PIECES = [
    "a", "guide", "Redis", "x1", "[", "]", "[[", "(", ")", "【", "】", " ", "  ", "/", "\\", ",",
    "，", ";", "|",
    "#chunk-", "#chunk-1", "#", "-", ".", ":", "vector:", "rank:1", "see", "Source: ",
    "事故", "复盘", "。", "「", "カ", "か\u3099", "é", "e\u0301", "\"", "'", "“", "`", "*",
    "_", "\n", "\t",
    "\u3000", "😀", "\u200b", "and", "&", "{", "}", "<b>", "5", "[5]", "†", "^", "@", ">",
]  # fmt: skip
doc_ids = st.one_of(
    st.lists(st.sampled_from(_PIECES), min_size=1, max_size=8).map("".join), st.text(max_size=12)
).filter(str.strip)
keys = st.builds(evidence_key, doc_ids, st.integers(0, 30))
_AROUND = ["It fails over ", "\n\n- ", "由此可见", ". ", " (see the log) ", "\n> ", "`x`", "\n", ""]
around = st.lists(st.sampled_from(_AROUND), max_size=4).map("".join)


def check(answer: object, returned: Iterable[str]) -> GuardReport:
    """The report on *answer* where *returned* are the keys of the lookups."""
    return EvidenceGuard().check_excerpts(answer, {key: [Excerpt("text")] for key in returned})


def at(report: GuardReport, start: int, end: int) -> list[ReferenceFinding]:
    """The findings of *report* within a place of the text."""
    return [
        one
        for one in report.findings
        if one.start is not None and one.end is not None and one.start < end and one.end > start
    ]


@given(st.sets(keys, min_size=1, max_size=6), st.data(), around, around)
def test_R39_a_returned_key_in_brackets_is_found_and_valid(
    returned: set[str], data: st.DataObject, before: str, after: str
) -> None:
    """Written as the context pack prints it, amid other text, it is that key and no other."""
    key = data.draw(st.sampled_from(sorted(returned)))
    report = check(f"{before}[{key}]{after}", returned)
    (one,) = report.findings
    assert (one.verdict, one.evidence_key) == (ReferenceVerdict.VALID, key)
    assert (one.start, one.end) == (len(before) + 1, len(before) + 1 + len(key))


@given(st.lists(keys, min_size=1, max_size=5), st.sampled_from([", ", "；", "、", ";", " | "]))
def test_R39_every_key_of_a_text_is_found(cited: list[str], separator: str) -> None:
    """Each in brackets of its own, in order, and also where one is a part of another."""
    report = check("".join(f"So it is [{key}].\n" for key in cited), cited)
    assert [one.evidence_key for one in report.findings] == cited
    joined = check(f"So it is [{separator.join(cited)}].", cited)
    if not any(separator.strip() in key for key in cited):
        assert [one.evidence_key for one in joined.findings] == cited


@given(st.sets(keys, max_size=5), keys, around, around)
def test_R39_a_key_that_was_not_returned_is_reported(
    returned: set[str], unknown: str, before: str, after: str
) -> None:
    """Not overlooked and not taken for another, unless it holds a returned key itself."""
    assume(not any(key in unknown for key in returned))
    assume(unknown.rpartition("#chunk-")[0][-1].isalnum())  # [a](#chunk-3] is a link to a heading
    report = check(f"{before}[{unknown}]{after}", returned)
    found = at(report, len(before), len(before) + len(unknown) + 2)
    resolved = {one.evidence_key for one in found if one.evidence_key is not None}
    is_reported = any(one.verdict is not ReferenceVerdict.VALID for one in found)
    # White space apart, and Markdown's escapes, it may yet be a returned key.
    assert is_reported or {folded(key) for key in resolved} == {folded(unknown)}


def folded(key: str) -> str:
    """*key* without what a reference may differ in."""
    return unicodedata.normalize("NFC", "".join(key.replace("\\", "").split()))


@given(st.sets(keys, min_size=1, max_size=3), keys)
def test_R39_a_longer_or_shorter_id_is_another_document(returned: set[str], key: str) -> None:
    """A returned key with something before or behind it is not that key."""
    doc_id, _, index = key.rpartition("#chunk-")
    assume(not doc_id.endswith(("#chunk-", " ", "\n")))
    others = (f"x{key}", f"x/{key}", f"my {key}", f"{key}0", f"{doc_id}-2#chunk-{index}")
    for other in others:
        if other not in returned and not any(one in other for one in returned - {key}):
            assert check(f"[{other}]", [key]).cited_keys == ()


@given(st.lists(keys, min_size=1, max_size=5), keys)
def test_R39_ids_in_json_are_taken_whole(returned: list[str], unknown: str) -> None:
    """A list of ids and objects with document_id need no grammar, as values and as text."""
    assume(unknown not in returned)
    ids = [*returned, unknown]
    objects = {"answer": "so", "evidence": [{"document_id": one} for one in ids]}
    for answer in (ids, objects, json.dumps(ids), json.dumps(objects)):
        report = check(answer, returned)
        assert len(report.findings) == len(ids)
        assert [one.evidence_key for one in report.findings][:-1] == returned


@given(texts, st.sets(keys, max_size=3))
def test_R39_any_text_gives_a_report(answer: str, returned: set[str]) -> None:
    """In order of place, within the text, and back from its JSON."""
    report = check(answer, returned)
    places = [one.start for one in report.findings if one.start is not None]
    assert places == sorted(places)
    for one in report.findings:
        if one.path == "$":
            assert answer[one.start : one.end].strip() == one.reference.strip()
    assert from_json(GuardReport, to_json(report)) == report


@pytest.mark.parametrize(
    "text",
    [
        "[", "[]", "[1]", "#chunk-1", "[a#chunk-1", "[a#chunk-1, ", "]", "`", "“", '"a b c" ',
        "> x\n",
        "```json\n[]\n```\n", "x[1]", "[as ", "\n", "b#chunk-1x, ",
    ],
)  # fmt: skip
def test_time_grows_as_the_text_does(text: str) -> None:
    """Eight times as much takes about eight times as long, and not sixty-four times."""

    def seconds(length: int) -> float:
        body = text * (length // len(text))
        answer = f"[{body}]" if text.endswith(", ") else body
        began = time.process_time()
        check(answer, ["a#chunk-1", "guide#chunk-2"])
        return time.process_time() - began

    assert seconds(160_000) < 30 * max(seconds(20_000), 0.01)


def test_time_grows_as_the_annotations_do() -> None:
    """Each stands for a mark in the text, and none is compared with every mark."""

    def seconds(count: int) -> float:
        spans = [{"start_index": 3 * n, "end_index": 3 * n + 3} for n in range(count)]
        annotations = [{"type": "url_citation", "url": "a#chunk-1", **span} for span in spans]
        began = time.process_time()
        report = check({"text": "[1]" * count, "annotations": annotations}, ["a#chunk-1"])
        assert (report.ok, len(report.findings)) == (True, count)
        return time.process_time() - began

    assert seconds(24_000) < 25 * max(seconds(3_000), 0.05)


def test_brackets_that_nest_deeply_are_read() -> None:
    """No recursion, in text and in JSON."""
    depth = 20_000
    assert check("[" * depth + "a#chunk-1" + "]" * depth, ["a#chunk-1"]).ok
    value: list[object] = ["see [a#chunk-1]"]
    for _ in range(depth):
        value = [value]
    assert check(value, ["a#chunk-1"]).cited_keys == ("a#chunk-1",)
