"""Vectors of sentences that were read before: questions to one collection come upon the same ones again and again."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from monjyu_core.embedding.base import Embedder

MOST_KEPT = 8192
"""Sentences of each embedder, about two kilobytes each. To embed one takes three milliseconds of a core."""

Vector = NDArray[np.float32]
_kept: WeakKeyDictionary[Embedder, dict[str, Vector]] = WeakKeyDictionary()


def sentence_vectors(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """As `embed_passages` gives them (n, d), to the last bit: of a local model a text has the same vector in any batch.

    May be shared by threads: at worst two embed the same sentence.
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
