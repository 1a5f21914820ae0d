"""all-MiniLM-L6-v2 in plain NumPy, one text at a time and in double precision: what the engine is compared with."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from monjyu_core.embedding.local.weights import TOKENIZER, WEIGHTS, model_folder

Array = NDArray[np.float64]

_STEP = 1e-4
_ERF = np.array([math.erf(place * _STEP - 6) for place in range(120_002)])


def erf(values: Array) -> Array:
    """The error function to 2e-9, between the points of a table from -6 to 6; beyond, it is -1 or 1."""
    places = np.clip((values + 6) / _STEP, 0, 120_000)
    below = places.astype(np.int64)
    result: Array = _ERF[below] + (places - below) * (_ERF[below + 1] - _ERF[below])
    return result


class Reference:
    """Reads the files itself, so that an error in reading them shows too."""

    def __init__(self) -> None:
        self.tokenizer = Tokenizer.from_file(str(model_folder() / TOKENIZER.name))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)

    @cached_property
    def weights(self) -> Mapping[str, Array]:
        return _read_safetensors((model_folder() / WEIGHTS.name).read_bytes())

    def embed(self, text: str) -> Array:
        """The vector (384,) of one text."""
        hidden = self._embeddings(self.tokenizer.encode(text).ids)
        for number in range(6):
            hidden = self._layer(hidden, f"encoder.layer.{number}")
        mean = hidden.mean(axis=0)
        vector: Array = mean / np.linalg.norm(mean)
        return vector

    def _embeddings(self, ids: list[int]) -> Array:
        words = self.weights["embeddings.word_embeddings.weight"][ids]
        positions = self.weights["embeddings.position_embeddings.weight"][: len(ids)]
        kind = self.weights["embeddings.token_type_embeddings.weight"][0]
        return self._norm(words + positions + kind, "embeddings.LayerNorm")

    def _layer(self, hidden: Array, name: str) -> Array:
        attended = self._linear(self._attention(hidden, f"{name}.attention.self"), f"{name}.attention.output.dense")
        hidden = self._norm(hidden + attended, f"{name}.attention.output.LayerNorm")
        inner = self._linear(hidden, f"{name}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        return self._norm(hidden + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _attention(self, hidden: Array, name: str) -> Array:
        parts = (self._linear(hidden, f"{name}.{part}") for part in ("query", "key", "value"))
        query, key, value = (part.reshape(-1, 12, 32).swapaxes(0, 1) for part in parts)
        scores = query @ key.swapaxes(1, 2) / math.sqrt(32)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed: Array = (shares / shares.sum(axis=-1, keepdims=True)) @ value
        return mixed.swapaxes(0, 1).reshape(-1, 384)

    def _linear(self, hidden: Array, name: str) -> Array:
        result: Array = hidden @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return result

    def _norm(self, hidden: Array, name: str) -> Array:
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        even = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        result: Array = even * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]
        return result


def _read_safetensors(data: bytes) -> Mapping[str, Array]:
    start = 8 + int.from_bytes(data[:8], "little")
    found = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            values = np.frombuffer(data[start + begin : start + end], dtype="<f4")
            found[name] = values.reshape(entry["shape"]).astype(np.float64)
    return found
