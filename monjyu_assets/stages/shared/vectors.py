"""Vectors of reports and claims: each text is embedded once, and the same model's vectors are reused."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from monjyu_assets.stages.chunk_embeddings import BATCH, known_vectors
from monjyu_assets.work.work import Work
from monjyu_core.embedding import embed_each, load_embedder
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_core.storage.ids import digest
from monjyu_core.storage.schemas import Record, table_of


def vector_table(work: Work, asset: str, table: str, rows: Sequence[Record], texts: Sequence[str]) -> pa.Table:
    """The rows of `table`, each with the vector of its text; `rows` hold the other columns."""
    embedder = load_embedder(work.settings)
    hashes = [digest(embedder.fingerprint, text, length=32) for text in texts]
    known = {key: vector for key, vector in known_vectors(work.parts.heads(table), set(hashes)).items() if vector.any()}
    missing = {key: text for key, text in zip(hashes, texts, strict=True) if key not in known}
    order = sorted(missing, key=lambda key: len(missing[key]))
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        with charged_to(work.account(asset)):
            vectors, failed = embed_each(embedder, [missing[key] for key in batch])
        known |= dict(zip(batch, vectors, strict=True))
        if failed:
            first = next(iter(failed.values()))
            work.warn(f"{len(failed)} rows of {table} have no vector and are compared by words alone: {first}")
        work.progress("vectors", start + len(batch), len(order))
    full: list[Record] = [
        {**row, "input_hash": key, "model": embedder.model_id, "vector": known[key]}
        for row, key in zip(rows, hashes, strict=True)
    ]
    return table_of(table, full)
