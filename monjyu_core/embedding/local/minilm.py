"""all-MiniLM-L6-v2, the English embedder that needs neither torch nor a download."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from monjyu_core.embedding.local.encoder import SentenceEncoder
from monjyu_core.embedding.local.weights import TOKENIZER, WEIGHTS, Shape, Weights, checked_bytes, read_weights
from monjyu_core.embedding.micro_batching import Ids

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class MiniLM(SentenceEncoder):
    """The `Embedder` for all-MiniLM-L6-v2, which embeds questions and passages in the same way."""

    shape = Shape("all-MiniLM-L6-v2", layers=6, padding_id=0)
    max_tokens = 256
    weights_sha256 = WEIGHTS.sha256
    begin_id, separator_id = 101, 102

    def read_weights(self) -> Weights:
        return read_weights()

    def word_vectors(self, ids: Ids) -> NDArray[np.float32]:
        return self._word_table[ids]

    @cached_property
    def _word_table(self) -> NDArray[np.float32]:
        """A view of the mapped file, whose pages the embedder's model shares."""
        return read_weights()["embeddings.word_embeddings.weight"]

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [found.ids for found in self._tokenizer.encode_batch_fast(list(texts))]

    @property
    def _tokenizer(self) -> Tokenizer:
        with self._lock:
            return self._loaded_tokenizer

    @cached_property
    def _loaded_tokenizer(self) -> Tokenizer:
        """The model's tokenizer without truncation and padding; the shipped file truncates and pads to 128."""
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(checked_bytes(TOKENIZER).tobytes().decode())
        tokenizer.no_truncation()
        tokenizer.no_padding()
        # [SEP] or [MASK] in a paper are letters and must not act as special tokens.
        tokenizer.encode_special_tokens = True
        return tokenizer
