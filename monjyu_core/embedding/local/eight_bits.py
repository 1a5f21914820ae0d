"""Linear layers in 8 bits: integers times integers, summed exactly, so that no vector depends on its batch.

Jacob et al. 2018 (integers with a scale and a zero point), Xiao et al. 2023 (outliers moved into the weights). The
ranges are static: one taken from the batch would make a vector depend on the texts beside it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monjyu_core.embedding.local.encoder_graph import float_product
from monjyu_core.embedding.local.runtime import op
from monjyu_core.errors import ConfigurationError

# How inputs of linear layers are rounded to 8 bits: found once on texts (`training/int8.py`), shipped as a file.


FOLDER = Path(__file__).with_name("int8")
SHA256 = {
    "all-MiniLM-L6-v2": "7361ef3c1e9580f2583d7cb64d9fa3149427aa64632d6ef32c749a1bc91ab894",
    "multilingual-e5-small": "00ffdfcfe127eeddaa68fe9f0866c7349405226ffa74e417649559ac9553c13f",
}

_ROOTS = np.array([1, 1.189207115002721, 1.4142135623730951, 1.681792830507429])
"""2 ** (0, 1/4, 1/2, 3/4)."""


@dataclass(frozen=True)
class Rounding:
    """An input x (..., k) becomes the integers `round(x / factors / step) + zero` of 0 to 255.

    The factors take from the channels what one step for all would lose; the weights are multiplied by them (Xiao et al.
    2023, "SmoothQuant"). They are the fourth roots of powers of two: `exponents` has four times the logarithm.
    """

    step: float
    zero: int
    exponents: NDArray[np.int8]

    @property
    def factors(self) -> NDArray[np.float32]:
        """Of each channel (k,), to the last bit the same on every processor."""
        octaves, quarters = np.divmod(self.exponents, 4)
        factors: NDArray[np.float32] = np.ldexp(_ROOTS[quarters], octaves).astype(np.float32)
        return factors


def read_calibration(model: str) -> dict[str, Rounding]:
    """The roundings by the name of the (first) layer that reads the input. ConfigurationError for a damaged file."""
    path = FOLDER / f"{model}.json"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"The file {path} cannot be read: {error}.", "Install Monjyu again.") from error
    if hashlib.sha256(data).hexdigest() != SHA256[model]:
        raise ConfigurationError(f"The file {path} is damaged: its hash is not the known one.", "Install Monjyu again.")
    return {
        name: Rounding(entry["step"], entry["zero"], np.array(entry["exponents"], dtype=np.int8))
        for name, entry in json.loads(data)["inputs"].items()
    }


Node = Any

MOST = 127
"""Weights are integers from -127 to 127."""


class EightBitProducts:
    """The products of one model's graph.

    `integers`: by the engine's 8-bit kernels, else the same integers as floats, of which sums below 2**24 are exact:
    kernels without VNNI clip sums of two products to 16 bits. The vectors then agree but for the last digits.
    """

    def __init__(self, roundings: Mapping[str, Rounding], *, integers: bool) -> None:
        self._roundings = roundings
        self._integers = integers
        self._rounded: dict[str, Node] = {}

    def __call__(self, hidden: Node, weight: NDArray[np.float32], layer: str) -> Node:
        """The layer's product without its bias: hidden (..., k) with weight (m, k) to (..., m). In floats where the
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
        """A FakeQuantize, which the engine turns into integers; or, as floats, the integers less the zero point."""
        low, high = -rounding.zero, 255 - rounding.zero
        step = np.float32(rounding.step)
        if self._integers:
            even = op.multiply(hidden, op.constant(1 / rounding.factors))
            ends = op.constant(step * np.float32(low)), op.constant(step * np.float32(high))
            return op.fake_quantize(even, *ends, *ends, 256)
        steps = op.multiply(hidden, op.constant(1 / rounding.factors / step))
        return op.round(op.clamp(steps, float(low), float(high)), "half_to_even")


def read_by(layer: str) -> str:
    """The layer under whose name the input's rounding is kept: query, key and value read the same."""
    return re.sub(r"\.(key|value)$", ".query", layer)


def to_integers(weight: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Integers (m, k) and the scale (m,) of each row, by its largest value."""
    scales = (np.abs(weight).max(axis=1) / MOST).astype(np.float32)
    scales[scales == 0] = 1
    values = np.clip(np.rint(weight / scales[:, None]), -MOST, MOST).astype(np.int8)
    return values, scales
