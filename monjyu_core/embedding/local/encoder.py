"""Code shared by the OpenVINO embedders: batches of similar length, padding, and truncation to the model's window."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from monjyu_core.embedding.local.calibration import SHA256, read_calibration
from monjyu_core.embedding.local.compiled import Engine, Precision, engine_name, multiplies_integers, resolve_precision
from monjyu_core.embedding.local.weights import WIDTH, Shape, Weights
from monjyu_core.embedding.micro_batching import Ids, Vectors

if TYPE_CHECKING:
    from monjyu_core.embedding.local.runtime import ov

BLOCK = 4096
"""The number of texts that are sorted and batched together; it limits the memory for word pieces."""
BATCH_TOKENS = 512
"""The maximum number of padded word pieces in a batch: 2 texts of 256, whose activations stay in a core's cache while
all cores work."""
BATCH_TEXTS = 32
STEP = 8
"""Lengths are padded to a multiple of this, because the engine takes some 20 ms for each new shape."""

Places = NDArray[np.int64]


class SentenceEncoder(ABC):
    """An `Embedder` on OpenVINO. Nothing is loaded before it is needed."""

    shape: Shape
    max_tokens: int
    weights_sha256: str
    begin_id: int
    separator_id: int
    passage_prefix = query_prefix = ""
    dimensions = WIDTH

    def __init__(self, precision: Precision = "auto", threads: int = 0) -> None:
        self.precision = resolve_precision(precision)
        self.fingerprint = f"sha256:{self.weights_sha256} {engine_name(self.precision)}"
        if self.precision == "int8":
            self.fingerprint += f" calibration:{SHA256[self.shape.name][:16]}"
        self._engine = Engine(self, "bf16" if self.precision == "bf16" else "f32", threads)
        self._lock = Lock()

    @property
    def model_id(self) -> str:
        return self.shape.name

    @abstractmethod
    def read_weights(self) -> Weights:
        """The tensors of checked files under their published names."""

    def build(self) -> ov.Model:
        """Build the model; weights are read while the engine is imported, as each takes 0.1 to 0.2 seconds."""
        with ThreadPoolExecutor(1, thread_name_prefix="weights") as pool:
            reading = pool.submit(self.read_weights)
            from monjyu_core.embedding.local.encoder_graph import EightBitProducts, build_model

            if self.precision != "int8":
                return build_model(reading.result(), self.shape)
            roundings = read_calibration(self.shape.name)
            products = EightBitProducts(roundings, integers=multiplies_integers())
            return build_model(reading.result(), self.shape, products)

    @abstractmethod
    def word_vectors(self, ids: Ids) -> NDArray[np.float32]:
        """The vectors (..., 384) of word piece ids, before position vectors are added."""

    def inputs(self, ids: Ids) -> Sequence[NDArray[Any]]:
        """The model's inputs for ids (n, tokens)."""
        return [ids]

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Word piece ids of each text with the special tokens, not truncated. The texts are valid Unicode."""

    def warm_up(self) -> None:
        """Read the tokenizer, compile the model and run it once."""
        self.embed_query("warm up")

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (n, 384) of the texts in their order; the first `max_tokens` word pieces of each count."""
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)

        def keep(places: Places, found: Vectors) -> None:
            vectors[places] = found

        self._engine.run_many(self._batches(texts), keep)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector (384,) of a question."""
        vector: NDArray[np.float32] = self._engine.run_one(self._padded(self._pieces([text], self.query_prefix)))[0]
        return vector

    def pieces_of(self, texts: Sequence[str]) -> list[list[int]]:
        """Word piece ids of each text without prefix and special tokens, not truncated."""
        return [ids[1:-1] for ids in self._encode(texts, "")]

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The number of word pieces (n,) of each text as a passage, with prefix and special tokens, not truncated."""
        counts = np.empty(len(texts), dtype=np.int64)
        for start in range(0, len(texts), BLOCK):
            encoded = self._encode(texts[start : start + BLOCK], self.passage_prefix)
            counts[start : start + len(encoded)] = [len(ids) for ids in encoded]
        return counts

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[Places, Ids]]:
        """Yield each batch with the positions of its texts."""
        for start in range(0, len(texts), BLOCK):
            pieces = self._pieces(texts[start : start + BLOCK], self.passage_prefix)
            for batch in batches_of_one_width([len(ids) for ids in pieces]):
                yield np.array(batch, dtype=np.int64) + start, self._padded([pieces[place] for place in batch])

    def _pieces(self, texts: Sequence[str], prefix: str) -> list[list[int]]:
        """Word piece ids of each text, truncated to the model's window; the separator remains the last of them."""
        most = self.max_tokens
        encoded = self._encode(texts, prefix)
        return [ids if len(ids) <= most else [*ids[: most - 1], self.separator_id] for ids in encoded]

    def _encode(self, texts: Sequence[str], prefix: str) -> list[list[int]]:
        return self.encode([prefix + _unicode(text) for text in texts])

    def _padded(self, pieces: Sequence[list[int]]) -> Ids:
        return padded(pieces, self.shape.padding_id)


def _unicode(text: str) -> str:
    """The text with lone surrogates (which cannot be encoded) replaced."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def batches_of_one_width(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the positions of rows for each batch: rows of one padded length, longest first. Wider padding would change
    the last bits of a row's output.
    """
    order = sorted(range(len(lengths)), key=lambda place: -_rounded(lengths[place]))
    for width, group in groupby(order, key=lambda place: _rounded(lengths[place])):
        places, count = list(group), min(BATCH_TEXTS, BATCH_TOKENS // width)
        for first in range(0, len(places), count):
            yield places[first : first + count]


def padded(rows: Sequence[Sequence[int]], padding: int) -> Ids:
    """The rows as an array (n, width) int32, padded on the right to a multiple of `STEP`."""
    ids = np.full((len(rows), _rounded(max(map(len, rows)))), padding, dtype=np.int32)
    for row, values in zip(ids, rows, strict=True):
        row[: len(values)] = values
    return ids


def _rounded(length: int) -> int:
    return -(-length // STEP) * STEP
