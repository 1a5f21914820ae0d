"""Small BERT encoders as OpenVINO models: encoder, mean pooling and L2 normalisation in one graph.

Devlin et al. 2019 (the encoder), Reimers and Gurevych 2019 (mean pooling), Wang et al. 2020 (MiniLM, on which
multilingual-e5-small is also based), Jacob et al. 2018 (integers with a scale and a zero point), Xiao et al. 2023
(outliers moved into the weights).
"""

import re
from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monjyu_core.embedding.local.calibration import Rounding
from monjyu_core.embedding.local.runtime import op, ov
from monjyu_core.embedding.local.weights import HEADS, WIDTH, Shape, Weights

HEAD_WIDTH = WIDTH // HEADS
EPSILON = 1e-12
MASKED = -1e9
"""Added to the attention scores of padding, whose weight then becomes exactly 0."""

_WORDS = "embeddings.word_embeddings.weight"

Node = Any
Product = Callable[[Node, NDArray[np.float32], str], Node]
"""The product of a linear layer: of its input (..., k), its weight (m, k) and its name."""


def float_product(hidden: Node, weight: NDArray[np.float32], layer: str) -> Node:
    """The product of a layer's input and weight in floats, for every layer."""
    return op.matmul(hidden, _shared(weight), False, True)


def build_model(weights: Weights, shape: Shape, product: Product = float_product, *, pooled: bool = True) -> ov.Model:
    """Build the model from word piece ids (n, tokens) int32, padded on the right, to vectors (n, 384) float32 of L2
    norm 1, or, without `pooled`, to the states of the tokens (n, tokens, 384).

    The attention mask is derived from the ids, because no text contains the padding id. If the weights have no table of
    word vectors, the vectors of the ids (n, tokens, 384) float32 are a second input. Names are those of the published
    models; the weights are not copied.
    """
    return _Graph(weights, shape, product).build(pooled)


class _Graph:
    def __init__(self, weights: Weights, shape: Shape, product: Product) -> None:
        self.weights = weights
        self.shape = shape
        self.product = product

    def build(self, pooled: bool) -> ov.Model:
        ids = op.parameter([-1, -1], np.int32, name="ids")
        inputs = [ids]
        if _WORDS in self.weights:
            words = op.gather(self.tensor(_WORDS), ids, _ints(0))
        else:
            words = op.parameter([-1, -1, WIDTH], np.float32, name="words")
            inputs.append(words)
        # The mask is selected, not computed: the engine would take a converted integer with a scale for a quantized
        # value like those of the 8-bit layers, and apply the scale of the mask to the attention scores.
        there = op.not_equal(ids, op.constant(np.int32(self.shape.padding_id)))
        present = op.select(there, _scalar(1.0), _scalar(0.0))
        mask = op.unsqueeze(op.select(there, _scalar(0.0), _scalar(MASKED)), _ints(1, 2))
        hidden = self.embeddings(ids, words)
        for number in range(self.shape.layers):
            hidden = self.layer(hidden, mask, f"encoder.layer.{number}")
        if not pooled:
            return ov.Model([op.result(hidden)], inputs, self.shape.name)
        mean = _mean(hidden, op.unsqueeze(present, _ints(2)))
        return ov.Model([op.result(op.normalize_l2(mean, _ints(1), EPSILON, "max"))], inputs, self.shape.name)

    def embeddings(self, ids: Node, words: Node) -> Node:
        """The normalised sum of the vectors of words, positions and the only token type: (n, tokens, 384)."""
        tokens = op.gather(op.shape_of(ids), _ints(1), _ints(0))
        table = self.tensor("embeddings.position_embeddings.weight")
        positions = op.slice(table, _ints(0), tokens, _ints(1), _ints(0))
        kind = _shared(self.weights["embeddings.token_type_embeddings.weight"][0])
        return self.normalise(op.add(op.add(words, positions), kind), "embeddings.LayerNorm")

    def layer(self, hidden: Node, mask: Node, name: str) -> Node:
        attended = self.linear(self.attention(hidden, mask, f"{name}.attention.self"), f"{name}.attention.output.dense")
        hidden = self.normalise(op.add(attended, hidden), f"{name}.attention.output.LayerNorm")
        inner = op.gelu(self.linear(hidden, f"{name}.intermediate.dense"), "erf")
        return self.normalise(op.add(self.linear(inner, f"{name}.output.dense"), hidden), f"{name}.output.LayerNorm")

    def attention(self, hidden: Node, mask: Node, name: str) -> Node:
        query = self.heads(self.linear(hidden, f"{name}.query", scale=1 / sqrt(HEAD_WIDTH)))
        key, value = (self.heads(self.linear(hidden, f"{name}.{part}")) for part in ("key", "value"))
        shares = op.softmax(op.add(op.matmul(query, key, False, True), mask), -1)
        mixed = op.transpose(op.matmul(shares, value, False, False), _ints(0, 2, 1, 3))
        return op.reshape(mixed, _ints(0, 0, WIDTH), True)

    def heads(self, hidden: Node) -> Node:
        """Split (n, tokens, 384) into (n, heads, tokens, 32)."""
        return op.transpose(op.reshape(hidden, _ints(0, 0, HEADS, HEAD_WIDTH), True), _ints(0, 2, 1, 3))

    def linear(self, hidden: Node, name: str, scale: float = 1.0) -> Node:
        """The layer's output times `scale`, which is multiplied into its weights beforehand."""
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        if scale != 1.0:
            weight, bias = weight * np.float32(scale), bias * np.float32(scale)
        return op.add(self.product(hidden, weight, name), _shared(bias))

    def normalise(self, hidden: Node, name: str) -> Node:
        even = op.mvn(hidden, _ints(-1), True, EPSILON, "inside_sqrt")
        return op.add(op.multiply(even, self.tensor(f"{name}.weight")), self.tensor(f"{name}.bias"))

    def tensor(self, name: str) -> Node:
        return _shared(self.weights[name])


def _mean(hidden: Node, present: Node) -> Node:
    """The mean over the tokens that are present: (n, tokens, 384) and (n, tokens, 1) to (n, 384)."""
    return op.divide(op.reduce_sum(op.multiply(hidden, present), _ints(1)), op.reduce_sum(present, _ints(1)))


def _shared(values: NDArray[np.float32]) -> Node:
    """A constant that shares the array's memory and keeps the array alive."""
    return op.constant(values, shared_memory=True)


def _scalar(value: float) -> Node:
    return op.constant(np.float32(value))


def _ints(*values: int) -> Node:
    return op.constant(np.array(values, dtype=np.int64))


# Linear layers in 8 bits: products of integers are summed exactly, so that no vector depends on its batch. The ranges
# are static: a range taken from the batch would make a vector depend on the other texts in it.
MOST = 127
"""Weights are integers from -127 to 127."""


class EightBitProducts:
    """The products of one model's graph. With `integers` the engine's 8-bit kernels compute them; otherwise the same
    integers are computed as floats, whose sums are exact below 2**24, because kernels without VNNI clip sums of two
    products to 16 bits. The vectors of both agree except in the last digits.
    """

    def __init__(self, roundings: Mapping[str, Rounding], *, integers: bool) -> None:
        self._roundings = roundings
        self._integers = integers
        self._rounded: dict[str, Node] = {}

    def __call__(self, hidden: Node, weight: NDArray[np.float32], layer: str) -> Node:
        """The layer's product without its bias: hidden (..., k) with weight (m, k) to (..., m). It is in floats if the
        input has no rounding."""
        source = read_by(layer)
        rounding = self._roundings.get(source)
        if rounding is None:
            return float_product(hidden, weight, layer)
        if source not in self._rounded:
            self._rounded[source] = self._round(hidden, rounding)
        values, scales = to_integers(weight * rounding.factors)
        if self._integers:
            weights = op.multiply(op.convert(op.constant(values), np.float32), op.constant(scales[:, None]))
            return op.matmul(self._rounded[source], weights, False, True)
        sums = op.matmul(self._rounded[source], op.constant(values.astype(np.float32)), False, True)
        return op.multiply(sums, op.constant(scales * np.float32(rounding.step)))

    def _round(self, hidden: Node, rounding: Rounding) -> Node:
        """The rounded input: a FakeQuantize for the engine, or the integers less the zero point as floats."""
        low, high = -rounding.zero, 255 - rounding.zero
        step = np.float32(rounding.step)
        if self._integers:
            even = op.multiply(hidden, op.constant(1 / rounding.factors))
            ends = op.constant(step * np.float32(low)), op.constant(step * np.float32(high))
            return op.fake_quantize(even, *ends, *ends, 256)
        steps = op.multiply(hidden, op.constant(1 / rounding.factors / step))
        return op.round(op.clamp(steps, float(low), float(high)), "half_to_even")


def read_by(layer: str) -> str:
    """The layer under whose name the input's rounding is stored: query, key and value read the same input."""
    return re.sub(r"\.(key|value)$", ".query", layer)


def to_integers(weight: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A weight (m, k) as integers, and the scale (m,) of each row, from its largest absolute value."""
    scales = (np.abs(weight).max(axis=1) / MOST).astype(np.float32)
    scales[scales == 0] = 1
    values = np.clip(np.rint(weight / scales[:, None]), -MOST, MOST).astype(np.int8)
    return values, scales
