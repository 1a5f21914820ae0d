"""What every embedding model offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from monjyu_core.models.call_errors import ModelCallError, TextsNotEmbedded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """A model that turns texts into vectors of length 1. Safe to call from many threads at once."""

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
        """Word pieces the model reads of a text, special tokens included; what follows them is lost."""
        ...

    @property
    def fingerprint(self) -> str:
        """Weights, engine, version and precision: vectors compare only under equal fingerprints. Loads nothing."""
        ...

    def warm_up(self) -> None:
        """Load now what the first `embed_query` would load."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (n, d) of the texts in their order, each of L2 norm 1.

        Raises ConfigurationError where the model's files are missing or damaged.
        """
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector (d,) of a question, of L2 norm 1. Raises as `embed_passages`."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Word pieces (n,) of each text, special tokens included, not cut at `max_tokens`."""
        ...


def embed_each(embedder: Embedder, texts: Sequence[str]) -> tuple[NDArray[np.float32], Mapping[int, ModelCallError]]:
    """Vectors (n, d) of the texts, and by place the errors of those that a server does not embed, whose vectors are
    zero. Raises as `Embedder.embed_passages`."""
    try:
        return embedder.embed_passages(texts), {}
    except TextsNotEmbedded as partial:
        vectors: NDArray[np.float32] = partial.vectors
        return vectors, partial.failures
