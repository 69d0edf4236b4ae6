"""The model's own tokenizer: SentencePiece unigram over the vocabulary in the model file."""

import re
from typing import Any

from evidence_lookup.adapters.local_embedder.drivers import driver
from evidence_lookup.adapters.local_embedder.weights import Weights

_META_SPACE = "\u2581"
_REPLACEMENT = "\ufffd"
_MANY_SPACES = re.compile(" {2,}")


class Tokenizer:
    """Texts to piece numbers. Safe to call from many threads at once."""

    def __init__(self, weights: Weights) -> None:
        """Build from *weights*; takes one to two seconds.

        Raises:
            MissingExtraError: the ``tokenizers`` library is not installed.
        """
        tokenizers = driver("tokenizers")
        self._begin = weights.begin
        self._end = weights.end
        self._characters: dict[int, str] = dict(weights.character_map)
        # The file's map knows neither; the C string of its engine ended at a NUL.
        self._characters[0] = " "
        replacement = weights.character_map.get(ord(_REPLACEMENT), _REPLACEMENT)
        self._characters.update(dict.fromkeys(range(0xD800, 0xE000), replacement))
        self._unigram: Any = tokenizers.Tokenizer(
            tokenizers.models.Unigram(weights.vocabulary(), weights.unknown, False)
        )
        # No piece reaches over a space, so that cutting there first changes no piece, and words
        # that come again are found in a cache.
        self._unigram.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(
            replacement=_META_SPACE, prepend_scheme="always", split=True
        )

    def count(self, text: str) -> int:
        """How many pieces *text* has."""
        return len(self._encode(text))

    def windows(self, text: str, *, size: int) -> list[list[int]]:
        """The pieces of *text* in runs of at most *size*, begin and end marks included.

        There is always at least one window, with the marks alone when the text has no piece.
        """
        pieces: list[int] = self._encode(text).ids
        step = size - 2
        return [
            [self._begin, *pieces[at : at + step], self._end]
            for at in range(0, max(1, len(pieces)), step)
        ]

    def _encode(self, text: str) -> Any:
        normal = _MANY_SPACES.sub(" ", text.translate(self._characters)).strip(" ")
        return self._unigram.encode(normal, add_special_tokens=False)
