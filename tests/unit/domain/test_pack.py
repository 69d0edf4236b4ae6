"""The context pack (R36, R37)."""

import time

import pytest
from tests.unit.domain.samples import block

from evidence_lookup.domain.pack import ContextPackSummary, PackedSource, PackEntry, pack
from evidence_lookup.domain.text import estimate_tokens


def test_R36_an_entry_shows_key_metadata_reasons_and_content() -> None:
    """Key, title, source, section and reasons stand above the content."""
    one = block("a#chunk-0", "Promote the replica.", hit_reasons=("dense:rank 1", "keyword:redis"))
    made = pack([one], 1_000, estimate_tokens)
    assert made.text == (
        "[a#chunk-0]\nTitle: Title\nSource: a.md\nSection: Title > Part\n"
        "Found by: dense:rank 1, keyword:redis\nPromote the replica."
    )
    (entry,) = made.entries
    assert (entry.source, entry.title, entry.breadcrumb) == ("a.md", "Title", "Title > Part")
    assert entry.hit_reasons == ("dense:rank 1", "keyword:redis")
    assert not entry.is_cut


def test_R36_what_is_not_known_has_no_line() -> None:
    """Missing metadata leaves no empty line, nor does a breadcrumb equal to the title."""
    bare = block(source=None, title=None, breadcrumb=None, hit_reasons=())
    assert pack([bare], 1_000, len).text == "[a#chunk-0]\ntext"
    repeated = block(title="T", breadcrumb="T", source=None, hit_reasons=())
    assert pack([repeated], 1_000, len).text == "[a#chunk-0]\nTitle: T\ntext"


def test_R36_entries_stand_in_the_blocks_order_with_a_blank_line_between() -> None:
    """The pack reads best first."""
    blocks = [
        block(key, key, source=None, title=None, breadcrumb=None, hit_reasons=())
        for key in ("b#chunk-1", "a#chunk-0")
    ]
    made = pack(blocks, 1_000, len)
    assert made.text == "[b#chunk-1]\nb#chunk-1\n\n[a#chunk-0]\na#chunk-0"
    assert made.summary.used == len(made.text)
    assert made.summary.included == (
        PackedSource("b#chunk-1", None),
        PackedSource("a#chunk-0", None),
    )


def test_R37_no_blocks_make_an_empty_pack() -> None:
    """Nothing to pack is no text and no tokens."""
    made = pack([], 100, estimate_tokens)
    assert (made.text, made.entries, made.summary) == ("", (), ContextPackSummary(100, 0))


def test_R37_content_is_cut_at_a_word_and_metadata_stays_whole() -> None:
    """A block that is too long keeps its metadata and a beginning of its content."""
    one = block(content="word " * 200)
    made = pack([one], 60, estimate_tokens)
    (entry,) = made.entries
    assert entry.is_cut
    assert one.content.startswith(entry.content)
    assert entry.content.endswith("word")
    assert made.text.startswith("[a#chunk-0]\nTitle: Title\nSource: a.md\nSection: Title > Part\n")
    assert made.text.endswith("word […]")
    assert made.summary.cut == (PackedSource("a#chunk-0", "a.md", "budget"),)
    assert (made.summary.included, made.summary.omitted) == ((), ())
    assert 50 <= made.summary.used == estimate_tokens(made.text) <= 60


def test_R37_a_block_that_fits_exactly_is_whole() -> None:
    """The budget is inclusive, and one token less cuts or omits."""
    one = block(content="x" * 100)
    size = len(pack([one], 10_000, len).text)
    assert not pack([one], size, len).entries[0].is_cut
    (shorter,) = pack([one], size - 1, len).entries
    assert shorter.is_cut
    assert len(shorter.content) == 100 - 1 - len(" […]")


def test_R37_less_than_40_characters_are_not_worth_an_entry() -> None:
    """A block of which fewer than 40 characters would stand is omitted instead."""
    one = block(content="x" * 100)
    around = len(pack([one], 10_000, len).text) - 100 + len(" […]")
    assert len(pack([one], around + 40, len).entries[0].content) == 40
    made = pack([one], around + 39, len)
    assert (made.text, made.entries) == ("", ())
    assert made.summary.omitted == (PackedSource("a#chunk-0", "a.md", "budget"),)


def test_R37_a_later_block_that_fits_is_taken_after_an_omitted_one() -> None:
    """Omitting one block does not end the pack."""
    long = block("long#chunk-0", "short", title="t" * 300)
    made = pack([block("a#chunk-0"), long, block("b#chunk-0")], 250, len)
    assert [entry.evidence_key for entry in made.entries] == ["a#chunk-0", "b#chunk-0"]
    assert [each.evidence_key for each in made.summary.omitted] == ["long#chunk-0"]


@pytest.mark.parametrize("budget", [0, -1, 1])
def test_R37_a_budget_without_room_omits_everything(budget: int) -> None:
    """No room is no text, and every block is listed as omitted."""
    made = pack([block("a#chunk-0"), block("b#chunk-0")], budget, estimate_tokens)
    assert (made.text, made.summary.used, made.entries) == ("", 0, ())
    assert [each.evidence_key for each in made.summary.omitted] == ["a#chunk-0", "b#chunk-0"]


def test_R37_a_counter_that_goes_by_bytes_is_kept_too() -> None:
    """The budget is in the counter's own unit, whatever the script."""
    made = pack([block(content="数据库" * 200)], 400, lambda text: len(text.encode()))
    assert made.entries[0].is_cut
    assert 390 <= len(made.text.encode()) <= 400


def test_C62_an_entry_is_named_by_its_key_wherever_it_stands() -> None:
    """Turning the order round changes no id."""
    blocks = [block(f"doc#chunk-{n}", f"text {n}") for n in (4, 0, 2)]
    there = {e.evidence_key: e.content for e in pack(blocks, 1_000, estimate_tokens).entries}
    back = {e.evidence_key: e.content for e in pack(blocks[::-1], 1_000, estimate_tokens).entries}
    assert there == back == {f"doc#chunk-{n}": f"text {n}" for n in (4, 0, 2)}


def test_C63_a_cut_block_stays_one_entry() -> None:
    """A block is shortened, never split: its key stands once in the pack."""
    made = pack([block("guide#chunk-3", "word " * 500)], 80, estimate_tokens)
    assert [entry.evidence_key for entry in made.entries] == ["guide#chunk-3"]
    assert made.text.count("[guide#chunk-3]") == 1


def test_C65_what_was_cut_and_what_was_left_out_are_both_listed() -> None:
    """Budget 100 with three blocks of 60: one whole, one cut, one omitted, never more than 100."""
    blocks = [
        block(f"{name}#chunk-0", "x" * 48, source=name, title=None, breadcrumb=None, hit_reasons=())
        for name in "abc"
    ]
    assert len(pack(blocks[:1], 1_000, len).text) == 48 + len("[a#chunk-0]\nSource: a\n")
    made = pack(blocks, 141, len)
    assert len(made.text) <= 141
    assert made.summary.included == (PackedSource("a#chunk-0", "a"),)
    assert made.summary.cut == (PackedSource("b#chunk-0", "b", "budget"),)
    assert made.summary.omitted == (PackedSource("c#chunk-0", "c", "budget"),)
    tokens = pack([block(f"{n}#chunk-0", "word " * 40) for n in "abc"], 100, estimate_tokens)
    assert tokens.summary.used == estimate_tokens(tokens.text) <= 100
    listed = (*tokens.summary.included, *tokens.summary.cut, *tokens.summary.omitted)
    assert sorted(each.evidence_key for each in listed) == ["a#chunk-0", "b#chunk-0", "c#chunk-0"]


@pytest.mark.parametrize("content", ["word " * 60_000, "数" * 300_000, "x" * 300_000])
def test_R37_a_huge_block_is_cut_in_time(content: str) -> None:
    """Hundreds of thousands of characters are packed in a moment."""
    started = time.perf_counter()
    made = pack([block(content=content)], 2_000, estimate_tokens)
    assert time.perf_counter() - started < 5
    assert 1_900 < made.summary.used <= 2_000


def test_no_title_imitates_the_key_of_another_entry() -> None:
    """Metadata is rendered in one line, so that a line that begins with a key is an entry's."""
    entry = PackEntry("a#chunk-0", "a.md", "T\n[b#chunk-1]\nTitle: fake", None, (), "text")
    assert entry.render().splitlines() == [
        "[a#chunk-0]",
        "Title: T [b#chunk-1] Title: fake",
        "Source: a.md",
        "text",
    ]
