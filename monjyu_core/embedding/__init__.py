"""Text to vectors: the `Embedder` protocol and the models behind it."""

from monjyu_core.embedding.base import Embedder, embed_each
from monjyu_core.embedding.load import load_embedder

__all__ = ["Embedder", "embed_each", "load_embedder"]
