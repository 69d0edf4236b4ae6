"""Cutting, counting and comparing, for every text."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from tests.property.strategies import texts

from evidence_lookup.domain.text import (
    clean,
    cut,
    estimate_tokens,
    is_blank,
    is_whole_word,
    normalise,
)


@given(texts, st.integers(0, 60))
def test_a_cut_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    """Never longer than the limit, always a beginning, and the whole text where that fits."""
    kept = cut(text, limit)
    assert text.startswith(kept)
    assert len(kept) <= limit
    assert (kept == text) or len(text) > limit


@given(texts, st.integers(2, 60))
def test_a_cut_never_parts_a_mark_from_its_character(text: str, limit: int) -> None:
    """What follows the cut is no mark, unless the text begins with nothing but marks."""
    kept = cut(text, limit)
    rest = text[len(kept) :]
    if rest and len(kept) > 1:
        assert unicodedata.category(rest[0])[0] != "M"


@given(texts, st.integers(1, 60))
def test_a_cut_keeps_what_is_there_to_keep(text: str, limit: int) -> None:
    """At most the last quarter is given up, white space and marks of the last character apart."""
    text = "".join(c for c in text if unicodedata.category(c)[0] not in "MCZ") + "x" * limit
    assert len(cut(text, limit)) >= limit * 3 // 4


@given(texts, texts)
def test_the_estimate_never_falls_as_a_text_grows(text: str, more: str) -> None:
    """Every beginning counts at most as much as the whole."""
    counts = [estimate_tokens((text + more)[:end]) for end in range(len(text + more) + 1)]
    assert counts == sorted(counts)
    assert counts[0] == 0


@given(texts, texts)
def test_the_estimate_of_two_texts_is_at_most_the_sum(text: str, more: str) -> None:
    """Joining texts makes no tokens."""
    whole = estimate_tokens(text + more)
    assert whole <= estimate_tokens(text) + estimate_tokens(more)
    assert whole <= len(text + more)


@given(texts)
def test_cleaning_keeps_length_and_can_be_stored(text: str) -> None:
    """Offsets stay valid, the result is UTF-8, and a second cleaning changes nothing."""
    cleaned = clean(text)
    assert len(cleaned) == len(text)
    assert cleaned.encode().decode() == cleaned
    assert clean(cleaned) == cleaned


@given(texts)
def test_normalising_makes_equal_texts_equal(text: str) -> None:
    """A text compares equal to its decomposed and to its compatibility form."""
    assert normalise(unicodedata.normalize("NFD", text)) == normalise(text)
    assert normalise(unicodedata.normalize("NFKC", text)) == normalise(text)


@given(texts)
def test_R55_a_text_with_a_letter_is_not_blank(text: str) -> None:
    """Blank is what has nothing to show; adding a letter ends it, adding spaces does not."""
    assert not is_blank(text + "a")
    assert is_blank(f" {text}\u200b") == is_blank(text)


@given(st.text("abc_1é", min_size=1), st.text("abc_1é"), st.text("abc_1é"))
def test_an_alphabetic_term_stands_only_alone(term: str, before: str, after: str) -> None:
    """Inside a run of letters a term is a whole word exactly where the run is the term."""
    run = before + term + after
    text = f"see ({run}), please"
    start = 5 + len(before)
    assert is_whole_word(text, start, start + len(term)) == (run == term)


@given(st.text("数据库かカ한글", min_size=1), texts, texts)
def test_a_cjk_term_stands_everywhere(term: str, before: str, after: str) -> None:
    """Chinese, Japanese and Korean terms need no border."""
    text = before + term + after
    assert is_whole_word(text, len(before), len(before) + len(term))
