"""Runs the graph: piece numbers to the mean of the last layer."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidence_lookup.adapters.local_embedder import graph
from evidence_lookup.adapters.local_embedder.drivers import driver
from evidence_lookup.adapters.local_embedder.graph_cache import cached
from evidence_lookup.adapters.local_embedder.weights import FILE_SHA256, Weights, unpack

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ERRORS_ONLY = 3


class Encoder:
    """The loaded model. Safe to call from many threads at once."""

    def __init__(self, weights: Weights, *, model: bytes, threads: int) -> None:
        """Load the serialised graph *model* to run on *threads* threads.

        Raises:
            MissingExtraError: the ``onnxruntime`` library is not installed.
        """
        runtime = driver("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        # Threads that spin while they wait take the processors from everything else in the host.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session: Any = runtime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"]
        )
        self._words = weights.word_blocks()
        self._positions = weights.positions()

    def mean(self, window: list[int]) -> "NDArray[np.float32]":
        """The mean vector, ``(384,)`` and not of unit length, of 1 to 512 pieces with marks."""
        embeddings = unpack(self._words[window]) + self._positions[: len(window)]
        (means,) = self._session.run([graph.OUTPUT], {graph.INPUT: embeddings[None]})
        vector: NDArray[np.float32] = means[0]
        return vector


def open_encoder(weights: Weights, *, cache_folder: Path, threads: int) -> Encoder:
    """The encoder of *weights*, its graph kept in *cache_folder* (43 MB) from the first time on."""
    path = cache_folder / f"e5-small-{FILE_SHA256[:8]}-{graph.VERSION}.onnx"
    model = cached(path, lambda: graph.build(weights))
    return Encoder(weights, model=model, threads=threads)
