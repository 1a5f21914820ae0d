"""Embeds questions. The model, which must be the snapshot's, can be loaded in a separate thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from monjyu_core.embedding import Embedder, load_embedder
from monjyu_core.embedding.base import sentence_vectors
from monjyu_core.errors import QueryError
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.manifest import Manifest
from monjyu_query.ranking.scripts import unread

if TYPE_CHECKING:
    from monjyu_query.ranking.corpus import Vectors


Similarity = NDArray[np.float32]

KEPT = 64
"""The number of cached vectors of recent questions: router, ranking and answer use the same one."""


class QueryEmbedder:
    """Embeds questions with the model named in the collection's settings."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._ready: Future[None] | None = None
        self._kept: dict[str, NDArray[np.float32]] = {}

    def prepare(self) -> Future[None]:
        """Start loading the model in the background, once. The question that waits for it raises any error."""
        with self._lock:
            if self._ready is None:
                pool = ThreadPoolExecutor(1, thread_name_prefix="embedder")
                self._ready = pool.submit(lambda: load_embedder(self._settings).warm_up())
                pool.shutdown(wait=False)
            return self._ready

    def embed(self, query: str, manifest: Manifest) -> NDArray[np.float32]:
        """The question's vector (d,), of length 1. Raises QueryError if the snapshot has vectors of another model."""
        embedder = load_embedder(self._settings)
        check_same_model(embedder, manifest)
        vector = self.vector(query)
        if len(vector) != manifest.embedding.dimensions:
            raise _other_model(manifest, f"{embedder.model_id} now gives vectors of {len(vector)} dimensions")
        return vector

    def similarities_to(self, query: str, manifest: Manifest) -> Callable[[Sequence[str]], Similarity | None]:
        """A function for the cosine (n,) of each of n texts with the question; None if the model does not read the
        question's script, is not the snapshot's, or is paid per text."""

        def similarities(texts: Sequence[str]) -> Similarity | None:
            if self._settings.embedding.remote is not None or unread(query, manifest.embedding.model):
                return None
            embedder = load_embedder(self._settings)
            if embedder.fingerprint != manifest.embedding.fingerprint:
                return None
            vectors = sentence_vectors(embedder, texts)
            found: Similarity = np.vecdot(vectors, self.embed(query, manifest))
            return found

        return similarities

    def local_model(self) -> str:
        """The name of the model if it runs here; empty for one that is called over the network."""
        return "" if self._settings.embedding.remote is not None else load_embedder(self._settings).model_id

    def vector(self, query: str) -> NDArray[np.float32]:
        """The question's vector (d,) for any snapshot; a local model computes it once for all steps of a search."""
        embedder = load_embedder(self._settings)
        if self._settings.embedding.remote is not None:
            return embedder.embed_query(query)
        with self._lock:
            kept = self._kept.get(query)
        if kept is None:
            kept = embedder.embed_query(query)
            kept.setflags(write=False)
            with self._lock:
                while len(self._kept) >= KEPT:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[query] = kept
        return kept


def check_same_model(embedder: Embedder, manifest: Manifest) -> None:
    """Raise QueryError if the snapshot was embedded with another model, or with the same model in another precision,
    because the vectors cannot be compared."""
    if embedder.fingerprint != manifest.embedding.fingerprint:
        raise _other_model(manifest, f"the settings now name {embedder.model_id} ({embedder.fingerprint})")


def _other_model(manifest: Manifest, now: str) -> QueryError:
    theirs = manifest.embedding
    return QueryError(
        f"Collection {manifest.collection!r} was embedded with {theirs.model} ({theirs.fingerprint}), {now}.",
        "Index the collection again, set the embedding back, or search with mode keyword.",
    )


# How similarities of each model are scaled (one model places all texts in a narrow cone, another spreads them out), and
# how relevant a text is by its similarity and by the terms that it shares with a question.
Scale = tuple[float, float]
SCALES: dict[str, Scale] = {"all-MiniLM-L6-v2": (0.2, 0.7), "multilingual-e5-small": (0.81, 0.9)}
"""By model, the similarity of the closest chunk to unrelated questions, and to those that a collection answers well.
Measured on questions about other collections and about the collection itself."""

_NEAR_WEIGHT = 0.4
"""The weight of similarity in meaning if words agree, as in lazy search."""
_BELOW, _ABOVE = 0.2, 0.45
_NARROWEST = 0.9


def scale_of(model: str, vectors: Vectors) -> Scale:
    """The model's scale; for one that was not measured, estimated from the collection's own vectors.

    A scale is a pair (low, high), see `SCALES`. The mean similarity m of two chunks, at most 0.9, measures how narrow
    the model's cone is: the scale goes from `m - 0.2 (1 - m)` to `m + 0.45 (1 - m)`. With m of 0.30 and 0.85, as
    English papers have in the two measured models, that is 0.16 to 0.62 and 0.82 to 0.92.
    """
    if model in SCALES:
        return SCALES[model]
    count = len(vectors)
    if count < 2:
        return SCALES["all-MiniLM-L6-v2"]
    total = vectors.sum()
    mean = min(_NARROWEST, max(0.0, float(total @ total - count) / (count * (count - 1))))
    return mean - _BELOW * (1 - mean), mean + _ABOVE * (1 - mean)


def nearness(similarity: float, scale: Scale) -> float:
    """The position of a similarity on the model's scale, 0 (chance) to 1 (paraphrase)."""
    low, high = scale
    return min(1.0, max(0.0, (similarity - low) / (high - low)))


def text_relevance(share: float, similarity: float, scale: Scale) -> float:
    """`10 * (1 - (1 - share) * (1 - 0.4 * near))`, where `share` (0 to 1) is that of the question's terms in the text
    and `near` the similarity's position on the scale; 0 without a shared term."""
    return round(10 * (1 - (1 - share) * (1 - _NEAR_WEIGHT * nearness(similarity, scale))), 2) if share else 0.0
