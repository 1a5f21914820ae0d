"""How inputs of linear layers are rounded to 8 bits: measured on texts (`training/int8.py`), shipped as a file."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from monjyu_core.errors import ConfigurationError

FOLDER = Path(__file__).with_name("int8")
SHA256 = {
    "all-MiniLM-L6-v2": "7361ef3c1e9580f2583d7cb64d9fa3149427aa64632d6ef32c749a1bc91ab894",
    "multilingual-e5-small": "00ffdfcfe127eeddaa68fe9f0866c7349405226ffa74e417649559ac9553c13f",
}

_ROOTS = np.array([1, 1.189207115002721, 1.4142135623730951, 1.681792830507429])
"""2 ** (0, 1/4, 1/2, 3/4)."""


@dataclass(frozen=True)
class Rounding:
    """How an input x (..., k) becomes integers from 0 to 255: `round(x / factors / step) + zero`.

    Dividing by the factors makes the ranges of the channels alike, so that one step serves all; the weights are
    multiplied by them (Xiao et al. 2023, "SmoothQuant"). `exponents` (k,) are four times their base-2 logarithms.
    """

    step: float
    zero: int
    exponents: NDArray[np.int8]

    @property
    def factors(self) -> NDArray[np.float32]:
        """The factor of each channel (k,), bit for bit the same on every processor."""
        octaves, quarters = np.divmod(self.exponents, 4)
        factors: NDArray[np.float32] = np.ldexp(_ROOTS[quarters], octaves).astype(np.float32)
        return factors


def read_calibration(model: str) -> dict[str, Rounding]:
    """The roundings by the name of the first layer that reads the input. Raises ConfigurationError if the model's file
    is missing or damaged."""
    path = FOLDER / f"{model}.json"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"The file {path} cannot be read: {error}.", "Install Monjyu again.") from error
    if hashlib.sha256(data).hexdigest() != SHA256[model]:
        raise ConfigurationError(
            f"The file {path} is damaged: its hash is not the expected one.", "Install Monjyu again."
        )
    return {
        name: Rounding(entry["step"], entry["zero"], np.array(entry["exponents"], dtype=np.int8))
        for name, entry in json.loads(data)["inputs"].items()
    }
