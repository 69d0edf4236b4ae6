"""Hint terms found by Aho and Corasick's automaton: the time does not grow with the terms.

Aho, Corasick: Efficient String Matching: An Aid to Bibliographic Search, CACM 18(6), 1975.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from ahocorasick_rs import AhoCorasick

from evidence_lookup.adapters.aho_corasick.nesting import deeply_nested
from evidence_lookup.adapters.aho_corasick.word_automaton import WordAutomaton
from evidence_lookup.domain.hints import HintTerm
from evidence_lookup.domain.text import is_whole_word, normalise

# The library takes Unicode text only. A noncharacter stands for what is none.
_PLACEHOLDER = "\uffff"
_SURROGATE = re.compile("[\ud800-\udfff]")
_FOREIGN = re.compile(f"[\ud800-\udfff{_PLACEHOLDER}]")

_MOST_NESTED = 8
"""How many terms the library may report at one place for nothing but being ends of each other."""


class AhoCorasickMatcher:
    """The terms of a catalogue's revision. Safe to share between threads."""

    def __init__(self, terms: Sequence[HintTerm]) -> None:
        """Takes time linear in *terms*; terms of one normalised text share a pattern."""
        sharing: defaultdict[str, list[int]] = defaultdict(list)
        for position, term in enumerate(terms):
            if term.normalised:
                sharing[term.normalised].append(position)
        apart = deeply_nested(sharing, most=_MOST_NESTED)
        apart.update(filter(_FOREIGN.search, sharing))
        self._terms = tuple(terms)
        self._sharing = dict(sharing)
        self._patterns = [pattern for pattern in sharing if pattern not in apart]
        self._library = AhoCorasick(self._patterns, store_patterns=False)
        self._words = WordAutomaton(apart) if apart else None

    def match(self, query: str) -> tuple[HintTerm, ...]:
        """The terms that stand in *query*, by place, then longest first, then in their order.

        Each stands once, at its first place.
        """
        text = normalise(query)
        places = self._places(text)
        if self._words is not None:
            places.update(self._words.first_places(text))
        ordered = sorted(places, key=lambda pattern: (places[pattern], -len(pattern)))
        found = (self._terms[position] for one in ordered for position in self._sharing[one])
        return tuple(dict.fromkeys(found))

    def _places(self, text: str) -> dict[str, int]:
        places: dict[str, int] = {}
        borders: dict[int, bool] = {}

        def is_border(at: int) -> bool:
            known = borders.get(at)
            if known is None:
                known = borders[at] = is_whole_word(text, at, len(text))
            return known

        readable = _SURROGATE.sub(_PLACEHOLDER, text)
        for number, start, end in self._library.find_matches_as_indexes(readable, overlapping=True):
            pattern = self._patterns[number]
            if pattern not in places and is_border(start) and is_border(end):
                places[pattern] = start
        return places


def build_hint_matcher(terms: Sequence[HintTerm]) -> AhoCorasickMatcher:
    """The matcher of *terms*; some seconds for 300,000, so call it in a worker thread."""
    return AhoCorasickMatcher(terms)
