"""One embedder a process for each setting."""

from __future__ import annotations

import os
from threading import Lock

from monjyu_core.embedding.base import Embedder
from monjyu_core.settings import EmbeddingSettings

_embedders: dict[str, Embedder] = {}
_lock = Lock()


def load_embedder(settings: EmbeddingSettings) -> Embedder:
    """The embedder that the settings name, shared by all threads of this process.

    Cheap: files are checked and the model compiled when first needed, or by `warm_up`. `auto` without a collection to
    ask is the English model.
    Raises ConfigurationError for a model that is not installed or a precision that this processor does not have.
    """
    key = settings.model_dump_json()
    with _lock:
        if key not in _embedders:
            _embedders[key] = _make(settings)
        return _embedders[key]


def _make(settings: EmbeddingSettings) -> Embedder:
    if settings.model == "multilingual-e5-small":
        from monjyu_core.embedding.e5 import E5

        return E5(settings.precision, settings.threads)
    from monjyu_core.embedding.minilm import MiniLM

    return MiniLM(settings.precision, settings.threads)


def _forget() -> None:
    """A forked child has the parent's models without their threads: it must make its own."""
    global _lock
    _lock = Lock()
    _embedders.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
