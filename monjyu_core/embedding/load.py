"""One model per process for each setting."""

import os
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

from monjyu_core.embedding.base import Embedder
from monjyu_core.errors import ConfigurationError
from monjyu_core.models.factory import named_model
from monjyu_core.settings.settings import EmbeddingSettings, Settings

T = TypeVar("T")

_models: dict[Hashable, Any] = {}
_lock = Lock()


def load_embedder(settings: Settings | EmbeddingSettings) -> Embedder:
    """The embedder that the settings name, shared by all threads of this process.

    The call is cheap: files are checked and the model is compiled when first needed, or by `warm_up`. `auto` is the
    English model here; callers that know the collection resolve it first. `embedding.remote` needs all settings,
    because they describe the model that it names. Raises ConfigurationError for a model that is not installed or not
    described, or a precision that this processor does not have.
    """
    own = settings if isinstance(settings, EmbeddingSettings) else settings.embedding
    if own.remote is None:
        return _local(own)
    if isinstance(settings, EmbeddingSettings):
        raise ConfigurationError(
            f"embedding.remote is {own.remote!r}, but this call has no models.", "Pass all settings."
        )
    name, model = named_model(settings, own.remote, "embedding.remote")
    key = model.api_key.get_secret_value() if model.api_key else None
    from monjyu_core.embedding.remote import RemoteEmbedder

    made_from = (name, repr(model), key, repr(settings.roles.embed))
    return shared(made_from, lambda: RemoteEmbedder(name, model, settings))


def shared(key: Hashable, make: Callable[[], T]) -> T:
    """The process's model of this key, made at the first call."""
    with _lock:
        if key not in _models:
            _models[key] = make()
        model: T = _models[key]
        return model


def _local(settings: EmbeddingSettings) -> Embedder:
    """Load the local model. `auto` and the model that it resolves to share one instance (200 MB)."""
    from monjyu_core.embedding.local.compiled import resolve_precision

    precision = resolve_precision(settings.precision)
    if settings.model == "multilingual-e5-small":
        from monjyu_core.embedding.local.e5 import E5

        return shared((E5, precision, settings.threads), lambda: E5(precision, settings.threads))
    from monjyu_core.embedding.local.minilm import MiniLM

    return shared((MiniLM, precision, settings.threads), lambda: MiniLM(precision, settings.threads))


def _forget() -> None:
    """Drop the models after a fork: a child has the parent's models without their threads, and must load its own."""
    global _lock
    _lock = Lock()
    _models.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
