"""Reads the reader's weights: the differences between its weights and an embedding model's, and the heads.

There is an `.npz` file for each embedding model. `name:steps` (4 bits, two columns per byte) and `name:scale` (a float
for each row) are the difference of a matrix, `name:change` (half precision) that of a vector; `head:*` are the layers
of the heads, `calibration:*` turns their outputs into probabilities, and `record` is the training record as JSON.
"""

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
    "all-MiniLM-L6-v2": ModelFile("english.npz", "79775ac43d6cb2c93c024f9ca7300361ed3c2cf24faa16b781902ad2f2416efb"),
    "multilingual-e5-small": ModelFile(
        "multilingual.npz", "6287ffc5e200103793d9d4cb8bef4e491ea70daed8286bcb75e44521fb272a0e"
    ),
}
"""The weight files, by the embedding model that they change."""


@dataclass(frozen=True)
class Heads:
    """Weights used outside the engine: `kinds` (3, 384) are added to the word vectors, `layers` are the layers of the
    heads by name; `calibration` has a slope and an offset for sentences and passages, a slope and three offsets for
    claims."""

    kinds: NDArray[np.float32]
    layers: Mapping[str, NDArray[np.float64]]
    calibration: Mapping[str, NDArray[np.float64]]


def read_heads(model: str) -> Heads:
    """Read the heads. Raises ConfigurationError if the file of the embedding model is missing or damaged."""
    with _open(model) as file:
        parts: dict[str, dict[str, NDArray[np.float64]]] = {"head": {}, "calibration": {}}
        for key in file.files:
            group, _, name = key.partition(":")
            if group in parts:
                parts[group][name] = file[key].astype(np.float64)
        return Heads(file["kinds"].astype(np.float32), parts["head"], parts["calibration"])


def merge_weights(model: str, base: Weights) -> Weights:
    """The embedding model's weights plus the differences, without the word table. Raises as `read_heads`."""
    merged = {name: value for name, value in base.items() if not name.startswith("embeddings.word_embeddings")}
    with _open(model) as file:
        for key in file.files:
            name, _, part = key.rpartition(":")
            if part == "steps":
                change = unpacked(file[key]) * file[f"{name}:scale"][:, None]
            elif part == "change":
                change = file[key].astype(np.float32)
            else:
                continue
            merged[name] = base[name][: len(change)] + change
    # The vectors of the kinds of text are added to the word vectors instead.
    merged["embeddings.token_type_embeddings.weight"] = np.zeros_like(base["embeddings.LayerNorm.bias"])[None]
    return merged


def packed(change: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """A matrix (rows, columns) as steps of -7 to 7, two a byte (rows, columns / 2), and the size of a row's step."""
    scale = (np.abs(change).max(1) / 7).astype(np.float32)
    scale[scale == 0] = 1
    steps = (np.rint(change / scale[:, None]) + 8).astype(np.uint8)
    return steps[:, ::2] | steps[:, 1::2] << 4, scale


def unpacked(steps: NDArray[np.uint8]) -> NDArray[np.float32]:
    return np.stack([steps & 15, steps >> 4], axis=2).reshape(len(steps), -1).astype(np.float32) - 8


def _open(model: str) -> np.lib.npyio.NpzFile:
    data = checked_file(FOLDER, FILES[model], "Install Monjyu again.")
    file: np.lib.npyio.NpzFile = np.load(io.BytesIO(data.data), allow_pickle=False)
    return file
