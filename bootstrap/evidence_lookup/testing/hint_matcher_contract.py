"""What every `HintMatcher` promises, as a test suite for its builders."""

import pytest

from evidence_lookup.domain.hints import HintTerm, HintTermKind, hint_terms, hints_from
from evidence_lookup.ports.hint_matcher import BuildHintMatcher
from evidence_lookup.testing import samples
from evidence_lookup.testing.samples import term


class HintMatcherContract:
    """Subclass with a fixture `build` to prove an adapter."""

    @pytest.fixture
    def build(self) -> BuildHintMatcher:
        """The builder to prove; every adapter gives its own."""
        raise NotImplementedError

    def test_no_terms_match_nothing(self, build: BuildHintMatcher) -> None:
        """A catalogue without terms gives no hints, whatever the query."""
        matcher = build(())
        assert matcher.match("redis") == ()
        assert matcher.match("") == ()

    @pytest.mark.parametrize("query", ["", " ", "\n\u200b", "\0", "\ud800"])
    def test_a_query_without_words_matches_nothing(
        self, build: BuildHintMatcher, query: str
    ) -> None:
        """Blank, invisible and broken text is searched like any other."""
        assert build((term("redis"), term("豆腐"))).match(query) == ()

    def test_a_term_without_text_is_passed_over(self, build: BuildHintMatcher) -> None:
        """An empty term stands nowhere, and costs the others nothing."""
        redis = term("redis")
        assert build((term(""), redis, term("  "))).match("ask redis") == (redis,)

    def test_keywords_and_entities_and_titles_are_found(self, build: BuildHintMatcher) -> None:
        """Every kind of term gives its hint: keyword, domain, entity, title (R13)."""
        entry = samples.entry(
            title="Retry Guide", category="ops", keywords=("timeout",), entities=("Redis",)
        )
        found = build(hint_terms((entry,))).match("redis timeout, see the retry guide")
        hints = hints_from(found)
        assert {one.kind for one in found} == {
            HintTermKind.ENTITY,
            HintTermKind.KEYWORD,
            HintTermKind.TITLE,
        }
        assert hints.matched_titles == ("Retry Guide",)
        assert hints.matched_keywords == ("timeout",)
        assert hints.entities == ("Redis",)
        assert hints.domains == ("ops",)

    def test_the_domain_of_the_matches_is_the_filter(self, build: BuildHintMatcher) -> None:
        """One domain among the matches is a filter, two are none (R16, R17)."""
        matcher = build((term("redis", category="ops"), term("invoice", category="billing")))
        one = hints_from(matcher.match("redis is down")).filter
        assert one is not None
        assert one.category == "ops"
        assert hints_from(matcher.match("redis invoice")).filter is None
        assert hints_from(matcher.match("nothing of it")).filter is None

    @pytest.mark.parametrize(
        ("text", "query"),
        [
            ("豆腐", "麻婆豆腐的做法"),
            ("서울", "서울에서"),
            ("東京", "東京都の天気"),
            ("とうふ", "おとうふです"),
            ("API", "调用api接口"),
            ("重启代理", "先重启代理，再检查"),
        ],
    )
    def test_cjk_terms_are_found_inside_a_run(
        self, build: BuildHintMatcher, text: str, query: str
    ) -> None:
        """A Chinese, Japanese or Korean term needs no border around it (C52)."""
        assert build((term(text),)).match(query) == (term(text),)

    @pytest.mark.parametrize(
        ("text", "query", "stands"),
        [
            ("cat", "the cat sat", True),
            ("cat", "category", False),
            ("cat", "concat", False),
            ("cat", "cat_1", False),
            ("cat", "(cat)", True),
            ("cat", "cat's", True),
            ("cat", "category of a cat", True),
            ("c++", "c++ or c", True),
            ("c", "c++ or d", True),
            ("-v", "run it -v", True),
            ("new york", "in new york today", True),
            ("new york", "in new yorker", False),
            ("ete", "e\u0301te\u0301", False),
            ("été", "l'e\u0301te\u0301 dernier", True),
        ],
    )
    def test_alphabetic_terms_are_whole_words(
        self, build: BuildHintMatcher, text: str, query: str, stands: bool
    ) -> None:
        """An end of a term in an alphabetic script is the end of a word."""
        assert bool(build((term(text),)).match(query)) is stands

    @pytest.mark.parametrize(
        ("text", "query"),
        [
            ("Redis", "REDIS"),
            ("STRASSE", "straße"),
            ("API", "ＡＰＩ"),
            ("file", "ﬁle"),
            ("パーティ", "ﾊﾟｰﾃｨ"),
        ],
    )
    def test_case_and_compatibility_forms_are_one(
        self, build: BuildHintMatcher, text: str, query: str
    ) -> None:
        """Terms and query are compared without case, full width or ligatures."""
        assert build((term(text),)).match(query) == (term(text),)

    def test_order_is_by_place_then_longest_first(self, build: BuildHintMatcher) -> None:
        """Of two matches the earlier stands first; at one place the longer."""
        york, new_york, new, times = term("york"), term("new york"), term("new"), term("times")
        matcher = build((york, new, times, new_york))
        assert matcher.match("The New York Times") == (new_york, new, york, times)

    def test_terms_of_one_text_keep_their_order(self, build: BuildHintMatcher) -> None:
        """Several documents may share a keyword: all come, as they were given."""
        terms = tuple(
            term(text, title=title)
            for text, title in (("Redis", "Z"), ("REDIS", "A"), ("redis", "M"))
        )
        assert build(terms).match("redis") == terms

    def test_a_term_comes_once_at_its_first_place(self, build: BuildHintMatcher) -> None:
        """A term that stands in the query twice, or was given twice, is one match."""
        a, b = term("alpha"), term("beta")
        assert build((b, a, b)).match("alpha beta alpha beta") == (a, b)

    def test_a_place_that_is_no_word_does_not_hide_a_later_one(
        self, build: BuildHintMatcher
    ) -> None:
        """The first place that counts is the first one with whole words."""
        cat, dog = term("cat"), term("dog")
        assert build((cat, dog)).match("category dog cat") == (dog, cat)

    def test_nested_terms_are_all_found(self, build: BuildHintMatcher) -> None:
        """Terms inside each other are found however many they are, the longest first."""
        terms = tuple(term("豆" * length) for length in range(1, 41))
        assert build(terms).match("豆" * 50) == terms[::-1]
        assert build(terms).match("豆" * 3) == terms[2::-1]

    def test_one_letter_terms_are_found(self, build: BuildHintMatcher) -> None:
        """A term of one letter stands by itself only, one of one CJK character anywhere."""
        r, bean = term("R"), term("豆")
        assert build((r, bean)).match("R vs Rust 麻豆") == (r, bean)
        assert build((r, bean)).match("Rust") == ()

    def test_a_long_query_is_searched_to_its_end(self, build: BuildHintMatcher) -> None:
        """Nothing is cut: a term at the end of 100,000 characters is found."""
        assert build((term("end"),)).match("emoji 😀 " * 12_500 + "the end") == (term("end"),)

    @pytest.mark.parametrize("odd", ["a\ud800b", "\udcff", "\uffff", "a\0b", "😀", "\U0010ffff"])
    def test_any_text_can_be_a_term(self, build: BuildHintMatcher, odd: str) -> None:
        """Lone surrogates, NUL, emoji and noncharacters match themselves and nothing else."""
        matcher = build((term(odd), term("redis")))
        assert matcher.match(f"see {odd} and redis") == (term(odd), term("redis"))
        assert matcher.match("see \udfff and \ufffd and redis") == (term("redis"),)

    def test_terms_are_left_as_they_were(self, build: BuildHintMatcher) -> None:
        """The list of terms is only read, and changing it later changes no matcher."""
        terms = [term("redis")]
        matcher = build(terms)
        assert terms == [term("redis")]
        terms.clear()
        assert matcher.match("redis") == (term("redis"),)

    def test_matchers_know_nothing_of_each_other(self, build: BuildHintMatcher) -> None:
        """Two matchers of two catalogues live side by side."""
        one, other = build((term("alpha"),)), build((term("beta"),))
        assert one.match("alpha beta") == (term("alpha"),)
        assert other.match("alpha beta") == (term("beta"),)

    def test_the_same_query_gives_the_same_answer(self, build: BuildHintMatcher) -> None:
        """Matching changes nothing in a matcher."""
        terms = tuple(term(text) for text in ("b", "a b", "a"))
        matcher = build(terms)
        first: tuple[HintTerm, ...] = matcher.match("a b a b")
        assert matcher.match("a b a b") == first
