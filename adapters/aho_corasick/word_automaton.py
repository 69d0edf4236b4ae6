"""An automaton over words instead of characters, for the terms that the library is not for."""

from collections import deque
from collections.abc import Iterable

from evidence_lookup.domain.text import is_whole_word


class WordAutomaton:
    """Finds patterns in time linear in the text, however many of them end at one place.

    Words, between the borders of `domain.text.is_whole_word`, are its letters, so that whatever
    it finds stands whole. What was found once is not looked at again, together with everything
    that it ends in: that bounds the work where patterns are nested.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        """Takes time linear in *patterns*, none of them empty."""
        self._next: list[dict[str, int]] = [{}]
        self._pattern: list[str | None] = [None]
        for pattern in patterns:
            self._pattern[self._node(pattern)] = pattern
        self._suffix = [0] * len(self._next)
        self._shorter = [0] * len(self._next)
        self._link()

    def first_places(self, text: str) -> dict[str, int]:
        """The patterns that stand in *text*, each with the character where it first begins."""
        places: dict[str, int] = {}
        seen = [False] * len(self._next)
        seen[0] = True
        node = at = 0
        for word in _words(text):
            at += len(word)
            node = self._step(node, word)
            ending = node
            while not seen[ending]:
                seen[ending] = True
                pattern = self._pattern[ending]
                if pattern is not None:
                    places[pattern] = at - len(pattern)
                ending = self._shorter[ending]
        return places

    def _node(self, pattern: str) -> int:
        node = 0
        for word in _words(pattern):
            following = self._next[node].get(word)
            if following is None:
                following = self._next[node][word] = len(self._next)
                self._next.append({})
                self._pattern.append(None)
            node = following
        return node

    def _link(self) -> None:
        """Give each node its longest proper end that is a node, and the one that is a pattern."""
        waiting = deque(self._next[0].values())
        while waiting:
            node = waiting.popleft()
            for word, following in self._next[node].items():
                suffix = self._step(self._suffix[node], word)
                self._suffix[following] = suffix
                is_pattern = self._pattern[suffix] is not None
                self._shorter[following] = suffix if is_pattern else self._shorter[suffix]
                waiting.append(following)

    def _step(self, node: int, word: str) -> int:
        while node and word not in self._next[node]:
            node = self._suffix[node]
        return self._next[node].get(word, 0)


def _words(text: str) -> list[str]:
    borders = [at for at in range(1, len(text)) if is_whole_word(text, at, len(text))]
    return [
        text[start:end] for start, end in zip([0, *borders], [*borders, len(text)], strict=True)
    ]
