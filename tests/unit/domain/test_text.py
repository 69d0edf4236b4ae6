"""How texts are compared and cut."""

import time

import pytest

from evidence_lookup.domain.text import (
    clean,
    cut,
    estimate_tokens,
    is_blank,
    is_cjk,
    is_whole_word,
    normalise,
)


@pytest.mark.parametrize(
    "text",
    ["", "   ", "\n\u200b", "\t\r\n", "\u00a0\u3000\u2028", "\ufeff\u2060\u00ad\u200e", "\x00\x1b",
     "\u3164\uffa0\u115f", "\u2800", "\ufe0f", "\U000e0100", "\u034f", "\u17b4", "\u180b",
     "\U000e0061"],
)  # fmt: skip
def test_R55_what_shows_nothing_is_blank(text: str) -> None:
    """Empty, white space, controls, joiners, fillers and variation selectors alone are blank."""
    assert is_blank(text)


@pytest.mark.parametrize(
    "text",
    [
        "a",
        ".",
        "\u200ba",
        "中",
        "0",
        "\ufffd",
        "é",
        "\u0301",
        "👍",
        "\ue000",
        "\U000323af\U0003ffff",
    ],
)
def test_R55_one_visible_character_is_enough(text: str) -> None:
    """Punctuation, a mark, an emoji or a letter newer than Python's tables is something."""
    assert not is_blank(text)


@pytest.mark.parametrize(
    ("text", "other"),
    [("Redis", "REDIS"), ("ｒｅｄｉｓ", "redis"), ("Straße", "STRASSE"), ("ﬁle", "FILE"),
     ("ﾊﾝ", "ハン"), ("e\u0301", "É"), ("각", "\u1100\u1161\u11a8")],
)  # fmt: skip
def test_R13_hints_compare_without_case_and_width(text: str, other: str) -> None:
    """Case, full and half width, ligatures and composed forms make no difference."""
    assert normalise(text) == normalise(other)


def test_R13_different_letters_stay_different() -> None:
    """Accents distinguish."""
    assert normalise("resume") != normalise("résumé")


@pytest.mark.parametrize("char", "中々〇ひカｶ한각ㄅ\u1100\U00020000")
def test_chinese_japanese_and_korean_letters_are_cjk(char: str) -> None:
    """Ideographs, kana, bopomofo and Hangul in every block are CJK."""
    assert is_cjk(char)


@pytest.mark.parametrize("char", ["a", "я", "क", "ก", "1", " ", "。", "，", "Ａ", "😀", ""])
def test_other_letters_and_cjk_punctuation_are_not_cjk(char: str) -> None:
    """Alphabets, digits, punctuation and full-width Latin letters are not."""
    assert not is_cjk(char)


def stands(term: str, text: str) -> bool:
    """Whether the first *term* in *text* is a whole word."""
    start = text.index(term)
    return is_whole_word(text, start, start + len(term))


@pytest.mark.parametrize(
    ("term", "text"),
    [("redis", "redis"), ("redis", "a redis."), ("redis", "(redis)"), ("redis", "redis-cluster"),
     ("redis", "用redis做"), ("豆腐", "麻婆豆腐的做法"), ("서울", "서울에서"), ("c++", "c++ code"),
     ("ハン", "ハンマー"), ("k8s集群", "my k8s集群在"), (".net", "asp.net")],
)  # fmt: skip
def test_R13_a_term_at_word_borders_or_in_cjk_stands(term: str, text: str) -> None:
    """Alphabetic ends need a border, a CJK neighbour is one, and CJK ends need none."""
    assert stands(term, text)


@pytest.mark.parametrize(
    ("term", "text"),
    [("redis", "predis"), ("redis", "redist"), ("redis", "redis2"), ("redis", "redis_pool"),
     ("cat", "concatenate"), ("e", "e\u0301"), ("क", "की"), ("а", "да")],
)  # fmt: skip
def test_R13_a_part_of_a_longer_word_does_not_stand(term: str, text: str) -> None:
    """A letter, digit, underscore or combining mark beside the term makes it another word."""
    assert not stands(term, text)


def test_clean_shows_what_cannot_be_stored() -> None:
    """Controls and lone surrogates become U+FFFD one by one; line ends and tabs stay."""
    assert clean("a\x00b\ud800c\x85\n\r\t中😀") == "a\ufffdb\ufffdc\ufffd\n\r\t中😀"
    clean("\ud83d").encode()


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [("short", 5, "short"), ("", 0, ""), ("abc", 0, ""), ("abc", 1, "a"),
     ("one two three", 9, "one two"), ("one two three", 7, "one two"),
     ("one two three", 8, "one two"), ("onetwothree x", 8, "onetwoth"),
     ("a bcdefghijk", 8, "a bcdefg"), ("数据库连接池", 4, "数据库连"),
     ("one two\n\n\nthree", 10, "one two")],
)  # fmt: skip
def test_cut_ends_at_a_word_in_the_last_quarter_else_at_the_limit(
    text: str, limit: int, kept: str
) -> None:
    """The longest beginning that ends at a word's end, if one is near; nothing at its end."""
    assert cut(text, limit) == kept


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [("xxxxe\u0301y", 5, "xxxx"), ("xe\u0301\u0302\u0303y", 4, "x"), ("करकी", 3, "कर"),
     ("かかか\u3099か", 3, "かか"), ("漢漢漢\U000e0100漢", 3, "漢漢"), ("xxxx❤\ufe0fy", 5, "xxxx")],
)  # fmt: skip
def test_cut_keeps_marks_with_their_character(text: str, limit: int, kept: str) -> None:
    """No accent, voicing mark, vowel sign or variation selector is parted from its base."""
    assert cut(text, limit) == kept


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), (" ", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("one two", 2), ("数据库", 3),
     ("a,b", 3), ("a\nb", 3), ("a\n\nb", 4), ("redis中文abc", 5), ("……", 2), ("foo_bar", 2),
     ("한글", 2), ("カタ", 2), ("12345678", 2)],
)  # fmt: skip
def test_tokens_are_estimated_by_script(text: str, tokens: int) -> None:
    """A CJK character, a mark and a line end count one, letters one for each 4 begun."""
    assert estimate_tokens(text) == tokens


@pytest.mark.parametrize("text", ["a" * 300_000, "数" * 300_000, "\u0301" * 300_000, " " * 300_000])
def test_a_long_run_of_one_kind_takes_linear_time(text: str) -> None:
    """No script makes cutting or counting slow."""
    started = time.perf_counter()
    assert len(cut(text, len(text) - 1)) < len(text)
    estimate_tokens(text)
    is_blank(text)
    clean(text)
    normalise(text)
    assert time.perf_counter() - started < 5
