"""The encoder as an ONNX graph: BERT's layers, most matrices in eight bits.

The input ``embeddings`` is float32 of shape ``(1, n, 384)``, one text's pieces plus positions; the
output ``mean`` is float32 of shape ``(1, 384)``, the mean of the last layer over the pieces.
Without padding there is no attention mask.

Activations are quantised at run time by one scale for the whole input of a matrix, so a text's
vector would depend on what else is in its batch; the batch is therefore one text. Measured on two
AVX2 cores this costs nothing: five texts of 60 tokens take as long one by one as together.

The output matrix of the feed-forward part stays float32, since its inputs have outliers that a
common scale cannot hold (cosine to the float32 graph: 0.9982 and more, with it in eight bits
0.9956). Weights take 7 of their 8 bits, for the products of two are summed in 16 bits by
processors without VNNI and would saturate there (0.9942 with 8).
"""

from typing import TYPE_CHECKING, Any

from evidence_lookup.adapters.local_embedder.drivers import driver
from evidence_lookup.adapters.local_embedder.weights import (
    FEED_FORWARD,
    HEADS,
    HIDDEN,
    LAYERS,
    Weights,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VERSION = 1
"""Raised whenever the graph changes, so that cached files of the old one are not used."""

INPUT = "embeddings"
OUTPUT = "mean"

_MICROSOFT = "com.microsoft"
_LARGEST = 64


def build(weights: Weights, *, exact: bool = False) -> bytes:
    """The graph, serialised, about 43 MB; takes about a second.

    *exact* keeps every matrix float32 (85 MB), as the reference that tests compare with.

    Raises:
        MissingExtraError: the ``onnx`` library is not installed.
    """
    return _Builder(weights, exact=exact).serialised()


class _Builder:
    def __init__(self, weights: Weights, *, exact: bool) -> None:
        self._onnx = driver("onnx")
        self._weights = weights
        self._exact = exact
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def serialised(self) -> bytes:
        helper = self._onnx.helper
        flow = self._node(
            "LayerNormalization",
            [INPUT, *self._vectors("emb.ln.w", "emb.ln.b")],
            "layer0",
            epsilon=self._weights.epsilon,
        )
        for layer in range(LAYERS):
            flow = self._layer(layer, flow)
        self._node("ReduceMean", [flow, self._axis()], OUTPUT, keepdims=0)
        number = self._onnx.TensorProto.FLOAT
        graph = helper.make_graph(
            self._nodes,
            "multilingual-e5-small",
            [helper.make_tensor_value_info(INPUT, number, [1, "pieces", HIDDEN])],
            [helper.make_tensor_value_info(OUTPUT, number, [1, HIDDEN])],
            self._constants,
        )
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(_MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        return bytes(model.SerializeToString())

    def _layer(self, layer: int, flow: str) -> str:
        at = f"l{layer}."
        attended = self._attention(at, flow)
        projected = self._product(f"{at}ao", attended, self._matrix(f"{at}ao.w", HIDDEN))
        flow = self._skip_norm(at, flow, projected, norm="aln", bias="ao.b")
        inner = self._product(f"{at}fi", flow, self._matrix(f"{at}fi.w", HIDDEN))
        inner = self._node(
            "BiasGelu", [inner, *self._vectors(f"{at}fi.b")], f"{at}gelu", domain=_MICROSOFT
        )
        outer = self._matrix(f"{at}fo.w", FEED_FORWARD)
        outer_flow = self._product(f"{at}fo", inner, outer, exact=True)
        return self._skip_norm(at, flow, outer_flow, norm="oln", bias="fo.b")

    def _attention(self, at: str, flow: str) -> str:
        import numpy as np

        # One product for query, key and value: its input is then quantised once.
        matrix = np.concatenate([self._matrix(f"{at}{name}.w", HIDDEN) for name in "qkv"], axis=1)
        bias = np.concatenate([self._weights.vector(f"{at}{name}.b") for name in "qkv"])
        joint = self._product(f"{at}qkv", flow, matrix)
        joint = self._node("Add", [joint, self._constant(f"{at}qkv.b", bias)], f"{at}joint")
        parts = [f"{at}{name}" for name in "qkv"]
        self._nodes.append(
            self._onnx.helper.make_node("Split", [joint], parts, axis=-1, num_outputs=3)
        )
        return self._node(
            "MultiHeadAttention", parts, f"{at}attended", domain=_MICROSOFT, num_heads=HEADS
        )

    def _skip_norm(self, at: str, flow: str, added: str, *, norm: str, bias: str) -> str:
        constants = self._vectors(f"{at}{norm}.w", f"{at}{norm}.b", f"{at}{bias}")
        return self._node(
            "SkipLayerNormalization",
            [flow, added, *constants],
            f"{at}{norm}",
            domain=_MICROSOFT,
            epsilon=self._weights.epsilon,
        )

    def _product(
        self, name: str, flow: str, matrix: "NDArray[np.float32]", *, exact: bool = False
    ) -> str:
        if exact or self._exact:
            return self._node("MatMul", [flow, self._constant(f"{name}.w", matrix)], f"{name}.y")
        numbers, scales = quantise(matrix)
        inputs = [
            flow,
            self._constant(f"{name}.w", numbers),
            self._constant(f"{name}.scale", scales),
            self._constant(f"{name}.zero", numbers[0] * 0),
        ]
        return self._node("DynamicQuantizeMatMul", inputs, f"{name}.y", domain=_MICROSOFT)

    def _matrix(self, name: str, inputs: int) -> "NDArray[np.float32]":
        return self._weights.matrix(name, inputs).T

    def _vectors(self, *names: str) -> list[str]:
        return [self._constant(name, self._weights.vector(name)) for name in names]

    def _axis(self) -> str:
        import numpy as np

        return self._constant("axis", np.array([1], np.int64))

    def _constant(self, name: str, value: "NDArray[Any]") -> str:
        import numpy as np

        array = np.ascontiguousarray(value)
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def _node(self, kind: str, inputs: list[str], output: str, **options: Any) -> str:
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, [output], **options))
        return output


def quantise(matrix: "NDArray[np.float32]") -> "tuple[NDArray[np.int8], NDArray[np.float32]]":
    """*matrix* ``(inputs, outputs)`` as whole numbers from -64 to 64 and a scale per output."""
    import numpy as np

    scales = (np.maximum(np.abs(matrix).max(axis=0), 1e-12) / _LARGEST).astype(np.float32)
    return np.rint(matrix / scales).astype(np.int8), scales
