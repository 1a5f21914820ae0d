"""Whether vectors are of their texts: a sample of those that changed is made anew.

The other checks see that a vector has its chunk's hash, not what it was made from. The sample grows with what changed
and has a bound, so a publish takes no longer in a large collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from monjyu_assets.chunking import input_text
from monjyu_assets.publishing.checks import CheckResult
from monjyu_core.embedding import load_embedder
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.ids import digest
from monjyu_core.storage.manifest import PartEntry
from monjyu_core.storage.parts import Part

NAME = "vectors_hold"
WHAT = "The vectors of a sample of what changed are those that the model makes of their texts."
FEWEST, MOST, ONE_IN = 16, 64, 8
"""Vectors that are computed again: one in eight of those in changed parts. Sixteen detect a fault in every sixth
vector with probability .95."""
LEAST = 0.95
"""Cosine of a vector with the one made anew. Rounding on another processor gives 0.99; another text less than 0.9."""


def check_vectors(parts: list[Part], settings: Settings, passed: Iterable[PartEntry | Part] = ()) -> CheckResult:
    """Of the local model only: a server's cost money. Parts that have `passed` are not asked again."""
    before = {entry.version for entry in passed if entry.table == "chunk_embeddings"}
    changed = [part for part in parts if part.table == "chunk_embeddings" and part.rows and part.version not in before]
    if settings.embedding.remote is not None or not changed:
        return CheckResult(NAME, True, WHAT, 0, [])
    chunks = {part.shard: part for part in parts if part.table == "chunks"}
    most = min(MOST, max(FEWEST, sum(part.rows for part in changed) // ONE_IN))
    share = -(-most // len(changed))
    sample = [one for part in changed for one in _sample(part, chunks[part.shard], share)]
    sample = sorted(sample, key=lambda one: digest(one[0]))[:most]
    made = load_embedder(settings).embed_passages([text for _, text, _ in sample])
    alike = np.einsum("ij,ij->i", np.asarray(made, np.float32), np.array([one for *_, one in sample], np.float32))
    wrong = [chunk_id for (chunk_id, *_), cosine in zip(sample, alike.tolist(), strict=True) if not cosine >= LEAST]
    return CheckResult(NAME, not wrong, WHAT, len(wrong), sorted(wrong)[:5], _WHAT_TO_DO)


_WHAT_TO_DO = "`monjyu snapshots verify` compares files; remove the parts of chunk_embeddings and index again."


def _sample(vectors: Part, chunks: Part, most: int) -> Iterator[tuple[str, str, list[float]]]:
    """Chunks of a part with their texts and vectors: the same ones whenever it is asked."""
    ids = vectors.read(["chunk_id"])["chunk_id"].to_pylist()
    chosen = set(sorted(ids, key=digest)[:most])
    rows = chunks.read(["chunk_id", "header", "text"]).to_pylist()
    texts = {row["chunk_id"]: input_text(row["header"], row["text"]) for row in rows if row["chunk_id"] in chosen}
    for row in vectors.read(["chunk_id", "vector"]).to_pylist():
        if row["chunk_id"] in texts:
            yield row["chunk_id"], texts[row["chunk_id"]], row["vector"]
