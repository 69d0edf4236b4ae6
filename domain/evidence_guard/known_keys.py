"""The keys that were returned, found in a text as they stand."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from evidence_lookup.domain.evidence_guard.text_units import MARKDOWN_ESCAPE

CHUNK_MARK = re.compile(r"#chunk-[0-9]+")
_PREFIX = 6  # the shortest key is rank:1


class KnownKeys:
    """Evidence keys that were returned, ready to be looked for at a place of a text."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = dict.fromkeys(keys)
        self._lengths_by_prefix: dict[str, set[int]] = {}
        self._lengths_by_mark: dict[str, set[int]] = {}
        self._by_form: dict[str, str] = {}
        for key in self._keys:
            self._lengths_by_prefix.setdefault(key[:_PREFIX], set()).add(len(key))
            if marks := CHUNK_MARK.findall(key):
                self._lengths_by_mark.setdefault(marks[-1], set()).add(len(key))
            self._by_form.setdefault(_form(key), key)

    def resolve(self, written: str) -> str | None:
        """The returned key that *written* names, or None.

        Exactly, or else with other white space (line ends too), another normal form of the same
        characters, or Markdown's backslashes. Case counts.
        """
        if written in self._keys:
            return written
        for form in (_form(written), _form(MARKDOWN_ESCAPE.sub("", written))):
            if form in self._by_form:
                return self._by_form[form]
        return None

    def starting_at(self, text: str, position: int) -> Iterator[str]:
        """The keys that stand at *position* of *text*, the longest first."""
        lengths = self._lengths_by_prefix.get(text[position : position + _PREFIX], ())
        for length in sorted(lengths, reverse=True):
            key = text[position : position + length]
            if key in self._keys:
                yield key

    def ending_with(self, text: str, mark: "re.Match[str]") -> Iterator[str]:
        """The keys that end with *mark*, a match of `CHUNK_MARK` in *text*, the longest first."""
        for length in sorted(self._lengths_by_mark.get(mark.group(), ()), reverse=True):
            key = text[max(mark.end() - length, 0) : mark.end()]
            if key in self._keys:
                yield key


def _form(key: str) -> str:
    return unicodedata.normalize("NFC", " ".join(key.split()))
