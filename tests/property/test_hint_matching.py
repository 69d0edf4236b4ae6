"""The automaton finds what a plain search finds."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from evidence_lookup.adapters.aho_corasick import build_hint_matcher
from evidence_lookup.adapters.aho_corasick.nesting import deeply_nested
from evidence_lookup.adapters.aho_corasick.word_automaton import WordAutomaton
from evidence_lookup.domain.hints import HintTerm
from evidence_lookup.domain.text import is_whole_word, normalise
from evidence_lookup.testing.samples import term

# Few letters, so that terms overlap, nest and repeat: words, marks, CJK, spaces, odd ones.
_LETTERS = "aab_ -中中文é\u0301ßﬁＡ\ud800\uffff\0😀"
_TEXTS = st.text(_LETTERS, max_size=60)
_TERMS = st.lists(
    st.builds(term, st.text(_LETTERS, max_size=6), title=st.sampled_from("AB")), max_size=30
)
_SHORT = st.sets(st.text("a中 ", min_size=1, max_size=9), max_size=40)


def _first_place(text: str, pattern: str) -> int | None:
    for start in range(len(text) - len(pattern) + 1):
        end = start + len(pattern)
        if text[start:end] == pattern and is_whole_word(text, start, end):
            return start
    return None


def _plainly(terms: Sequence[HintTerm], query: str) -> tuple[HintTerm, ...]:
    text = normalise(query)
    found = [
        (place, -len(one.normalised), position, one)
        for position, one in enumerate(terms)
        if one.normalised and (place := _first_place(text, one.normalised)) is not None
    ]
    return tuple(dict.fromkeys(one for *_, one in sorted(found, key=lambda item: item[:3])))


@given(_TERMS, _TEXTS)
def test_the_automaton_finds_what_a_plain_search_finds(terms: list[HintTerm], query: str) -> None:
    """Same terms, same order, for any terms and any query."""
    assert build_hint_matcher(terms).match(query) == _plainly(terms, query)


@given(_SHORT, st.text("a中 ", max_size=40))
def test_words_as_letters_find_what_a_plain_search_finds(patterns: set[str], text: str) -> None:
    """The automaton over words gives each pattern's first whole place."""
    places = {
        pattern: place for pattern in patterns if (place := _first_place(text, pattern)) is not None
    }
    assert WordAutomaton(patterns).first_places(text) == places


@given(_SHORT, st.integers(1, 4))
def test_nesting_counts_the_patterns_that_a_pattern_ends_in(patterns: set[str], most: int) -> None:
    """Set apart are exactly the patterns with at least so many others as their ends."""
    assert deeply_nested(patterns, most=most) == {
        pattern
        for pattern in patterns
        if sum(pattern.endswith(other) for other in patterns) - 1 >= most
    }


@given(_SHORT, st.text("a中 ", max_size=40), st.integers(1, 4))
def test_few_patterns_end_at_one_place_when_nested_ones_are_set_apart(
    patterns: set[str], text: str, most: int
) -> None:
    """What bounds the library's work: at most so many of the rest end at any place."""
    rest = patterns - deeply_nested(patterns, most=most)
    for end in range(len(text) + 1):
        assert sum(text[:end].endswith(pattern) for pattern in rest) <= most
