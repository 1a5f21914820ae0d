"""all-MiniLM-L6-v2, the English embedder that needs neither torch nor a download."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from monjyu_core.embedding.engine import Engine, Ids, Precision, Vectors, fingerprint, resolve_precision
from monjyu_core.embedding.weights import TOKENIZER, checked_bytes

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SEPARATOR_ID = 102
BLOCK = 4096
"""Texts sorted and batched together; bounds the memory that word pieces take."""
BATCH_TOKENS = 2048
"""Padded word pieces in a batch: 8 texts of full length. Larger batches are not faster."""
BATCH_TEXTS = 32
STEP = 8
"""Lengths are padded to a multiple of this, since each new shape costs the engine some 20 ms."""

Places = NDArray[np.int64]


class MiniLM:
    """`Embedder` for all-MiniLM-L6-v2 on OpenVINO. Nothing is loaded before it is needed."""

    model_id = "all-MiniLM-L6-v2"
    dimensions = 384
    max_tokens = 256

    def __init__(self, precision: Precision = "auto", threads: int = 0) -> None:
        resolved = resolve_precision(precision)
        self.fingerprint = fingerprint(resolved)
        self._engine = Engine(resolved, threads)
        self._lock = Lock()

    def warm_up(self) -> None:
        """Read the tokenizer, compile the model and run it once."""
        self.embed_query("warm up")

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (n, 384) of the texts in their order; the first 256 word pieces of each count."""
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)

        def keep(places: Places, found: Vectors) -> None:
            vectors[places] = found

        self._engine.run_many(self._batches(texts), keep)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector (384,) of a question; this model embeds questions as it embeds passages."""
        vector: NDArray[np.float32] = self._engine.run_one(_padded(self._pieces([text])))[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Word pieces (n,) with [CLS] and [SEP], uncut."""
        counts = np.empty(len(texts), dtype=np.int64)
        for start in range(0, len(texts), BLOCK):
            encoded = self._encode(texts[start : start + BLOCK])
            counts[start : start + len(encoded)] = [len(ids) for ids in encoded]
        return counts

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[Places, Ids]]:
        """Batches of similar length, longest first, with the places of their texts."""
        for start in range(0, len(texts), BLOCK):
            pieces = self._pieces(texts[start : start + BLOCK])
            order = sorted(range(len(pieces)), key=lambda place: -len(pieces[place]))
            while order:
                count = min(BATCH_TEXTS, BATCH_TOKENS // _rounded(len(pieces[order[0]])))
                batch, order = order[:count], order[count:]
                yield np.array(batch, dtype=np.int64) + start, _padded([pieces[place] for place in batch])

    def _pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """Word piece ids of each text, cut to the model's window; [SEP] stays the last of them."""
        most = self.max_tokens
        return [ids if len(ids) <= most else [*ids[: most - 1], SEPARATOR_ID] for ids in self._encode(texts)]

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        encoded = self._tokenizer.encode_batch_fast([_unicode(text) for text in texts])
        return [found.ids for found in encoded]

    @property
    def _tokenizer(self) -> Tokenizer:
        with self._lock:
            return self._loaded_tokenizer

    @cached_property
    def _loaded_tokenizer(self) -> Tokenizer:
        """The model's tokenizer, uncut and unpadded; the file as shipped cuts and pads at 128."""
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(checked_bytes(TOKENIZER).tobytes().decode())
        tokenizer.no_truncation()
        tokenizer.no_padding()
        # A paper that writes [SEP] or [MASK] means these letters; they must not steer the model.
        tokenizer.encode_special_tokens = True
        return tokenizer


def _unicode(text: str) -> str:
    """The text with lone surrogates (which no encoding has) replaced."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def _rounded(length: int) -> int:
    return -(-length // STEP) * STEP


def _padded(pieces: Sequence[list[int]]) -> Ids:
    ids = np.zeros((len(pieces), _rounded(max(map(len, pieces)))), dtype=np.int32)
    for row, found in zip(ids, pieces, strict=True):
        row[: len(found)] = found
    return ids
