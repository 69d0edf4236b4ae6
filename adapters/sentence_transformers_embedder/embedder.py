"""Models of the sentence-transformers library behind the port."""

import copy
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio.to_thread
from anyio import CapacityLimiter
from attrs import frozen

from evidence_lookup.adapters.per_loop import PerLoop
from evidence_lookup.adapters.prefixed_model import prefixed_model
from evidence_lookup.adapters.sentence_transformers_embedder.library import (
    LoadedModel,
    TokenizerOfModel,
    load,
)
from evidence_lookup.adapters.token_fit import beginning
from evidence_lookup.adapters.vectors import unit_rows
from evidence_lookup.domain.text import clean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BATCH_TEXTS = 8
_DEFAULT_WINDOW = 512


@frozen
class _Opened:
    model: LoadedModel
    counter: TokenizerOfModel
    dimension: int
    max_tokens: int


class SentenceTransformersEmbedder:
    """Any model that the sentence-transformers library loads, on the processor.

    The model is loaded at first use: by the async methods off the event loop, by the properties
    `dimension` and `max_tokens`, `count_tokens` and `fit` in the calling thread. A passage is cut
    where the model's window ends. A query waits for at most 8 passages.
    """

    def __init__(
        self,
        *,
        model: str,
        threads: int = 2,
        query_prefix: str = "",
        passage_prefix: str = "",
        unrelated_similarity: float | None = None,
    ) -> None:
        """Nothing is loaded yet.

        Args:
            model: a folder, or a name on the library's hub, which is then downloaded.
            threads: how many processors are used, by everything in the process that runs on torch.
            query_prefix: stands before each question.
            passage_prefix: stands before each passage.
            unrelated_similarity: the model's own figure; 0 when it is not given.
        """
        self._name = model
        self._threads = threads
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._unrelated = unrelated_similarity or 0.0
        self._opened: _Opened | None = None
        self._loading = threading.Lock()
        # The library's tokenizers must not be used by two threads at once.
        self._running = threading.Lock()
        self._counting = threading.Lock()
        self._passage_turn = PerLoop(lambda: CapacityLimiter(1))

    @property
    def model(self) -> str:
        """The name or folder as given, with a digest of the prefixes if there are any."""
        return prefixed_model(
            self._name, query_prefix=self._query_prefix, passage_prefix=self._passage_prefix
        )

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._open().dimension

    @property
    def max_tokens(self) -> int:
        """The model's window without its marks and the longer prefix."""
        return self._open().max_tokens

    @property
    def unrelated_similarity(self) -> float:
        """As given, else 0."""
        return self._unrelated

    def count_tokens(self, text: str) -> int:
        """How many of the model's tokens *text* has, without prefix and marks."""
        counter = self._open().counter
        with self._counting:
            return len(counter.encode(clean(text), add_special_tokens=False, verbose=False))

    def fit(self, text: str) -> str:
        """The longest beginning of *text* of at most `max_tokens`, cut at a word's end."""
        return beginning(text, limit=self.max_tokens, count=self.count_tokens)

    async def embed_query(self, text: str) -> "NDArray[np.float32]":
        """The unit vector of a question, ``(dimension,)``; cut as by `fit`.

        Raises: as `embed_passages`.
        """
        vectors = await anyio.to_thread.run_sync(self._vectors, [text], self._query_prefix)
        vector: NDArray[np.float32] = vectors[0]
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """The unit vectors of *texts* in their order, ``(len(texts), dimension)``; cut as by `fit`.

        Raises:
            ModelFileError: the model cannot be loaded.
            InvalidVectorError: the model gives a zero or non-finite vector.
            MissingExtraError: the library is not installed.
        """
        import numpy as np

        turn = self._passage_turn()
        opened = await anyio.to_thread.run_sync(self._open, limiter=turn)
        parts = [np.zeros((0, opened.dimension), np.float32)]
        for at in range(0, len(texts), _BATCH_TEXTS):
            batch = list(texts[at : at + _BATCH_TEXTS])
            parts.append(
                await anyio.to_thread.run_sync(
                    self._vectors, batch, self._passage_prefix, limiter=turn
                )
            )
        return np.concatenate(parts)

    def _vectors(self, texts: list[str], prefix: str) -> "NDArray[np.float32]":
        inputs = [prefix + clean(self.fit(text)) for text in texts]
        model = self._open().model
        with self._running:
            return unit_rows(model.encode(inputs, convert_to_numpy=True, show_progress_bar=False))

    def _open(self) -> _Opened:
        with self._loading:
            if self._opened is None:
                model = load(self._name, threads=self._threads)
                counter = copy.deepcopy(model.tokenizer)
                taken = counter.num_special_tokens_to_add() + max(
                    len(counter.encode(prefix, add_special_tokens=False))
                    for prefix in (self._query_prefix, self._passage_prefix)
                )
                # The library renamed its method for this in 6.0; a vector answers in all versions.
                (vector,) = model.encode(["a"], convert_to_numpy=True, show_progress_bar=False)
                window = model.max_seq_length or _DEFAULT_WINDOW
                self._opened = _Opened(model, counter, len(vector), window - taken)
            return self._opened
