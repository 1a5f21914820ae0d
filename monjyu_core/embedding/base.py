"""The interface of every embedding model."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from monjyu_core.models.call_errors import ModelCallError, TextsNotEmbedded


class Embedder(Protocol):
    """A model that turns texts into vectors of length 1. Thread-safe."""

    @property
    def model_id(self) -> str:
        """The model's published name."""
        ...

    @property
    def dimensions(self) -> int:
        """Length d of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """The number of word pieces of a text that the model reads, special tokens included; it ignores the rest."""
        ...

    @property
    def fingerprint(self) -> str:
        """Identifies weights, engine, version and precision, or a server's model and its dimensions. Only vectors with
        equal fingerprints can be compared. Reading it loads nothing."""
        ...

    def warm_up(self) -> None:
        """Load now what the first `embed_query` would load otherwise."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (n, d) of the texts in their order, each of L2 norm 1.

        Raises ConfigurationError if the model's files are missing or damaged.
        """
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector (d,) of a question, of L2 norm 1. Raises the errors of `embed_passages`."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The number of word pieces (n,) of each text, special tokens included, not cut at `max_tokens`."""
        ...


def embed_each(embedder: Embedder, texts: Sequence[str]) -> tuple[NDArray[np.float32], Mapping[int, ModelCallError]]:
    """Vectors (n, d) of the texts, and the errors, by position, of the texts that a server does not embed; their
    vectors are zero. Raises the errors of `Embedder.embed_passages`."""
    try:
        return embedder.embed_passages(texts), {}
    except TextsNotEmbedded as partial:
        vectors: NDArray[np.float32] = partial.vectors
        return vectors, partial.failures


# Vectors of sentences are cached, because questions to one collection read the same sentences again and again.
MOST_KEPT = 8192
"""Maximum number of sentences cached for each embedder, about two kilobytes each. Embedding one takes a core three
milliseconds."""

Vector = NDArray[np.float32]
_kept: WeakKeyDictionary[Embedder, dict[str, Vector]] = WeakKeyDictionary()


def sentence_vectors(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors (n, d), bit for bit those of `embed_passages`, because a local model returns the same vector for a text
    in any batch. Results are cached. Thread-safe: at worst two threads embed the same sentence.
    """
    kept = _kept.setdefault(embedder, {})
    found = {text: vector for text in texts if (vector := kept.get(text)) is not None}
    missing = [text for text in dict.fromkeys(texts) if text not in found]
    if missing:
        new = dict(zip(missing, embedder.embed_passages(missing), strict=True))
        found |= new
        if len(kept) + len(new) > MOST_KEPT:
            kept.clear()
        if len(new) <= MOST_KEPT:
            kept.update(new)
    return np.stack([found[text] for text in texts]) if texts else embedder.embed_passages(texts)
