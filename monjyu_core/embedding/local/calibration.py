"""How the inputs of linear layers are rounded to 8 bits: found once on texts (`training/int8.py`), shipped as a file."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from monjyu_core.errors import ConfigurationError

FOLDER = Path(__file__).with_name("int8")
SHA256 = {
    "all-MiniLM-L6-v2": "c65f07eb76cce9a5fadad891f3084334d1e327e43e4035f0426cd67b3b2a9de9",
    "multilingual-e5-small": "",
}


@dataclass(frozen=True)
class Rounding:
    """An input x (..., k) becomes the integers `round(x / 2**exponents / step) + zero` of 0 to 255.

    The powers of two take from the channels what one step for all would lose; the weights are multiplied by them
    (Xiao et al. 2023, "SmoothQuant"), which is exact.
    """

    step: float
    zero: int
    exponents: NDArray[np.int8]


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
