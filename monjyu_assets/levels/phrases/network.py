"""A small network that scores the labels of tokens from the vectors of each token and its neighbours.

The layers are those of spaCy's `tok2vec` (maxout over pieces, layer normalisation, residual), computed with NumPy for
batches of windows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
BLOCK = 64
"""The number of rows is padded to a multiple of this number, so that the sums of a row do not depend on its position in
a batch."""
_SMALL = np.float32(1e-8)


@dataclass(frozen=True)
class Maxout:
    """A maxout layer: the maximum of several products, normalised to mean 0 and deviation 1, times `gain` (out,), plus
    `shift` (out,).

    `weights` (in, pieces * out) and `bias` (pieces * out,) have the outputs of one piece next to each other.
    """

    weights: Floats
    bias: Floats
    gain: Floats
    shift: Floats

    @classmethod
    def of(cls, weights: Floats, bias: Floats, gain: Floats, shift: Floats) -> Maxout:
        """The layer with thinc's weights (out, pieces, in) and bias (out, pieces)."""
        by_piece = weights.transpose(2, 1, 0).reshape(weights.shape[2], -1)
        return cls(np.ascontiguousarray(by_piece, np.float32), np.ravel(bias.T).astype(np.float32), gain, shift)

    def __call__(self, rows: Floats, count: int) -> Floats:
        """The outputs (count, out) of the first `count` rows of `rows` (n, in)."""
        products = rows @ self.weights
        products += self.bias
        width = len(self.gain)
        best: Floats = np.maximum(products[:count, :width], products[:count, width : 2 * width])
        for start in range(2 * width, products.shape[1], width):
            np.maximum(best, products[:count, start : start + width], out=best)
        best -= best.mean(axis=1, keepdims=True)
        squares = np.einsum("ij,ij->i", best, best) / np.float32(width)
        best *= (np.float32(1) / np.sqrt(squares + _SMALL))[:, None]
        best *= self.gain
        best += self.shift
        return best


def in_blocks(rows: Floats) -> Floats:
    """The rows, padded with rows of zeros to fill the last block."""
    whole = np.zeros((len(rows) + -len(rows) % BLOCK, rows.shape[1]), np.float32)
    whole[: len(rows)] = rows
    return whole


def with_neighbours(rows: Floats) -> Floats:
    """Each row between its neighbours (n, 3 * width), with zeros beyond the ends. n fills whole blocks."""
    count, width = rows.shape
    wide = np.zeros((count + -count % BLOCK, 3 * width), np.float32)
    wide[1:count, :width] = rows[:-1]
    wide[:count, width : 2 * width] = rows
    wide[: count - 1, 2 * width :] = rows[1:]
    return wide


@dataclass(frozen=True)
class Network:
    """The layers, and the linear map from the last outputs to scores: weights (labels, width) and bias (labels,)."""

    layers: tuple[Maxout, ...]
    weights: Floats
    bias: Floats

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[np.floating]]) -> Network:
        """The network with arrays named weights0, bias0, gain0, shift0, weights1 …, output_weights and output_bias."""
        found = {name: np.asarray(array, np.float32) for name, array in arrays.items()}
        names = ("weights", "bias", "gain", "shift")
        count = sum(name.startswith("gain") for name in found)
        layers = tuple(Maxout.of(*(found[f"{name}{n}"] for name in names)) for n in range(count))
        return cls(layers, found["output_weights"], found["output_bias"])

    def scores(self, rows: Floats) -> Floats:
        """The scores (n, labels) of token vectors (n, width). A layer as wide as three tokens adds to its input. Rows
        of zeros separate the windows and stay zero, so that no layer sees across them."""
        gaps = ~rows.any(axis=1)
        count = len(rows)
        for layer in self.layers:
            if len(layer.weights) == rows.shape[1]:
                rows = layer(in_blocks(rows), count)
            else:
                rows = layer(with_neighbours(rows), count) + rows
            rows[gaps] = 0
        found: Floats = (in_blocks(rows) @ self.weights.T)[:count] + self.bias
        return found
