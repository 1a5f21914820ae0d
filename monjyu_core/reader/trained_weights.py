"""The reader's weights as shipped: what training changed in an embedding model's weights, and the heads.

An `.npz` file for each embedding model. `name:steps` (int8) and `name:scale` (a float for each row) are the change of
a matrix, `name:change` (half precision) that of a vector; `head:*` are the heads' layers, `calibration` what turns
their outputs into probabilities, and `record` the training record as JSON.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from monjyu_core.embedding.local.packaged import ModelFile, checked_file
from monjyu_core.embedding.local.weights import Weights

FOLDER = Path(__file__).with_name("weights")
FILES = {
    "all-MiniLM-L6-v2": ModelFile("english.npz", ""),
    "multilingual-e5-small": ModelFile("multilingual.npz", ""),
}
"""By the embedding model whose weights they change."""

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Trained:
    """`heads` by name; `calibration` a row of slope and offset each for sentences and passages, and one of slope and
    three offsets for claims."""

    changes: Mapping[str, Array]
    kinds: Array
    heads: Mapping[str, Array]
    calibration: Mapping[str, NDArray[np.float64]]

    def merged(self, base: Weights) -> Weights:
        """The base weights with the changes, without the tables of words and of text kinds."""
        kept = {name: value for name, value in base.items() if ".word_embeddings." not in name}
        for name, change in self.changes.items():
            rows = len(change)
            kept[name] = (kept[name][:rows] + change).astype(np.float32)
        # The kinds of the two texts are added to the words' vectors.
        kept["embeddings.token_type_embeddings.weight"] = np.zeros_like(self.kinds[:1])
        return kept


def read_trained(model: str) -> Trained:
    """The file for an embedding model. ConfigurationError if it is missing or damaged."""
    data = checked_file(FOLDER, FILES[model], "Install Monjyu again.")
    return parse_trained(data.tobytes())


def parse_trained(data: bytes) -> Trained:
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        changes, heads, calibration = {}, {}, {}
        for key in arrays.files:
            name, _, part = key.rpartition(":")
            if part == "steps":
                changes[name] = arrays[key].astype(np.float32) * arrays[f"{name}:scale"].astype(np.float32)[:, None]
            elif part == "change":
                changes[name] = arrays[key].astype(np.float32)
            elif name == "head":
                heads[part] = arrays[key].astype(np.float32)
            elif name == "calibration":
                calibration[part] = arrays[key].astype(np.float64)
        return Trained(changes, arrays["kinds"].astype(np.float32), heads, calibration)
