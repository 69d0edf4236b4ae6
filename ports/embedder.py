"""Texts to vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
    """Float32 of shape ``(n, dimension)``, or ``(dimension,)`` for one text."""


class Embedder(Protocol):
    """Turns texts into unit vectors whose inner product says how alike two texts are.

    The same text gives the same vector whatever stands beside it in a batch, within a cosine of
    0.9999. Any text of Unicode code points is accepted: empty, with NUL or lone surrogates too.
    """

    @property
    def model(self) -> str:
        """Name and version of the model; vectors of two models are never mixed in one index."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text the model reads; see `fit`."""
        ...

    @property
    def unrelated_similarity(self) -> float:
        """The cosine that unrelated texts commonly have under this model, from -1 to 1.

        Similarities at or below it say nothing; the default evidence floor is this figure.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """How many of the model's tokens *text* has, without the model's own prefix and marks."""
        ...

    def fit(self, text: str) -> str:
        """The longest beginning of *text* that the model reads whole, cut at a word's end.

        A text that fits comes back as it is.
        """
        ...

    async def embed_query(self, text: str) -> "Vectors":
        """The unit vector of a question, float32 of shape ``(dimension,)``; cut as by `fit`.

        Raises:
            BackendError: the model cannot be loaded or its server does not answer.
        """
        ...

    async def embed_passages(self, texts: Sequence[str]) -> "Vectors":
        """The unit vectors of *texts* in their order, float32 of shape ``(len(texts), dimension)``.

        No text is an empty array of shape ``(0, dimension)``.

        Raises:
            BackendError: the model cannot be loaded or its server does not answer.
        """
        ...
