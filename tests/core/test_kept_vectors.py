"""Vectors of sentences, read once: the same to the last bit, and not without bound."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from monjyu_core.embedding import base
from monjyu_core.embedding.base import sentence_vectors
from monjyu_core.embedding.local.minilm import MiniLM

SHORT, LONG = "Papers are kept in shards.", "A relevance budget says how many passages a search may judge. " * 4


class Counting(MiniLM):
    """Knows what it was given to read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.read += texts
        return super().embed_passages(texts)


def test_a_sentence_is_read_once_and_has_the_vector_that_it_has_alone() -> None:
    embedder = Counting()
    first = sentence_vectors(embedder, [SHORT, LONG, SHORT])
    again = sentence_vectors(embedder, [LONG, "Something new.", SHORT])
    assert embedder.read == [SHORT, LONG, "Something new."]
    assert np.array_equal(first[[1, 0, 0]], np.vstack([again[0], again[2], again[2]]))
    assert np.array_equal(again, MiniLM().embed_passages([LONG, "Something new.", SHORT]))
    assert sentence_vectors(embedder, []).shape == (0, embedder.dimensions)


def test_no_more_is_kept_than_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "MOST_KEPT", 2)
    embedder = Counting()
    for texts in (["one", "two"], ["three"], ["four", "five", "six"]):
        assert len(sentence_vectors(embedder, texts)) == len(texts)
        assert len(base._kept[embedder]) <= 2
