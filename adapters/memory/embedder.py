"""An embedder without a model: texts that share words and letters point the same way."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from evidence_lookup.adapters.token_fit import beginning
from evidence_lookup.domain.text import is_cjk, normalise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_RUN = re.compile(r"\w+|[^\w\s]")
_NGRAM = 3
_NGRAM_SHARE = 0.3
_UNRELATED_SIMILARITY = 0.2


class MemoryEmbedder:
    """Hashes words, CJK characters and letter trigrams into a fixed number of dimensions.

    The same text has the same vector in every process and on every machine. A word counts by the
    square root of how often it stands in the text; trigrams, which bring inflected forms together,
    weigh 0.3 of a word. There is no meaning in it: synonyms and translations are unrelated.

    Source: Weinberger et al., "Feature Hashing for Large Scale Multitask Learning" (2009).
    """

    def __init__(self, *, dimension: int = 64, max_tokens: int = 512) -> None:
        """*dimension* (2 and up) trades memory for fewer collisions; tokens are words here."""
        if dimension < 2 or max_tokens < 1:
            raise ValueError(f"dimension {dimension} or max_tokens {max_tokens} is too small")
        self._dimension = dimension
        self._max_tokens = max_tokens

    @property
    def model(self) -> str:
        """ "hashed-words-1": the number rises when the same text gets another vector."""
        return "hashed-words-1"

    @property
    def dimension(self) -> int:
        """As given."""
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """As given; what stands after it is not read."""
        return self._max_tokens

    @property
    def unrelated_similarity(self) -> float:
        """0.2: in 64 dimensions chance and common words bring 9 of 10 unrelated pairs below it."""
        return _UNRELATED_SIMILARITY

    def count_tokens(self, text: str) -> int:
        """How many words, CJK characters and marks *text* has."""
        return sum(1 for _ in _words(text))

    def fit(self, text: str) -> str:
        """The longest beginning of *text* of at most `max_tokens`, cut at a word's end."""
        return beginning(text, limit=self._max_tokens, count=self.count_tokens)

    async def embed_query(self, text: str) -> "NDArray[np.float32]":
        """The unit vector of a question, ``(dimension,)``."""
        return self._vector(text)

    async def embed_passages(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """The unit vectors of *texts* in their order, ``(len(texts), dimension)``."""
        import numpy as np

        vectors = np.zeros((len(texts), self._dimension), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._vector(text)
        return vectors

    def _vector(self, text: str) -> "NDArray[np.float32]":
        import numpy as np

        total = np.zeros(self._dimension, np.float64)
        for feature, count in Counter(_words(self.fit(text))).items():
            for part, weight in _parts(feature):
                place = _hash(part)
                sign = 1.0 if place & 1 else -1.0
                total[(place >> 1) % self._dimension] += sign * weight * count**0.5
        length = float(np.linalg.norm(total))
        if length == 0:
            total[0] = length = 1.0
        vector: NDArray[np.float32] = (total / length).astype(np.float32)
        return vector


def _words(text: str) -> Iterator[str]:
    """The words of *text* in comparable form; a CJK run gives each of its characters."""
    for run in _RUN.findall(normalise(text)):
        word = ""
        for char in run:
            if not is_cjk(char):
                word += char
                continue
            if word:
                yield word
            word = ""
            yield char
        if word:
            yield word


@lru_cache(maxsize=65_536)
def _parts(word: str) -> tuple[tuple[str, float], ...]:
    padded = f"<{word}>"
    grams = [padded[at : at + _NGRAM] for at in range(len(padded) - _NGRAM + 1)]
    share = _NGRAM_SHARE / len(grams) ** 0.5
    return (word, 1.0), *(("3" + gram, share) for gram in grams)


@lru_cache(maxsize=65_536)
def _hash(part: str) -> int:
    digest = hashlib.blake2b(part.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
