"""Level 0, fourth stage: the vectors of chunks. Each text is embedded once, even if it occurs in several papers or
shards.

A chunk that a server cannot embed has a row in `embedding_failures` instead of a vector: it is found by its words only,
and every run tries it again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from monjyu_assets.work.work import ShardReport, Work, recipe, unchanged
from monjyu_core.embedding import Embedder, embed_each, load_embedder
from monjyu_core.errors import StorageError
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.parts import Part, read_all
from monjyu_core.storage.rows_levels import ChunkFailureRow
from monjyu_core.storage.schemas import TABLES, table_of

ASSET, FAILURES = "chunk_embeddings", "embedding_failures"
CODE_VERSION = "1"
BATCH = 256
"""The number of texts that the model embeds between two progress reports."""


class _Chunk(TypedDict):
    chunk_id: str
    paper_id: str
    input_hash: str
    header: str
    text: str


Vectors = dict[str, NDArray[np.float32]]
Failures = dict[str, ModelCallError]
"""The failures by the hash of the text."""


def embedding_recipe(settings: Settings, embedder: Embedder) -> str:
    return recipe(ASSET, CODE_VERSION, settings, embedder.fingerprint)


def embed_shards(work: Work, shards: tuple[str, ...]) -> Iterator[ShardReport]:
    """Embed the chunks of `shards` whose text has no vector."""
    from monjyu_assets.chunking import input_text

    embedder = load_embedder(work.settings)
    made_with = embedding_recipe(work.settings, embedder)
    chunks: list[Part] = []
    for bucket in work.buckets(shards):
        failures = work.parts.head(FAILURES, bucket)
        if not failures and (report := unchanged(work, ASSET, bucket, made_with)):
            yield report
        else:
            chunks.append(_chunks(work, bucket))
    wanted = read_all("chunks", chunks, ["input_hash"])["input_hash"].value_counts().flatten()
    texts = set(wanted[0].to_pylist())
    several = set(pc.filter(wanted[0], pc.greater(wanted[1], 1)).to_pylist())
    parts = [part for part in work.parts.heads(ASSET) if part.code_version == made_with]
    known = known_vectors(parts, texts) if chunks else {}
    done, missing = 0, len(texts - known.keys())
    for part in chunks:
        rows = part.records(_Chunk)
        new = {
            row["input_hash"]: input_text(row["header"], row["text"]) for row in rows if row["input_hash"] not in known
        }
        made: Vectors = {}
        failed: Failures = {}
        for vectors, failures_of_batch in _embed(work, embedder, new):
            made |= vectors
            failed |= failures_of_batch
            done += len(vectors) + len(failures_of_batch)
            work.progress("embed", done, missing)
        yield _write(work, part, rows, known | made, failed, set(new), embedder, made_with)
        known |= {key: made[key] for key in made.keys() & several}  # all vectors may not fit into memory


def _chunks(work: Work, shard: str) -> Part:
    part = work.parts.head("chunks", shard)
    if part is None:
        raise StorageError(f"Shard {shard} of {work.name} has no chunks.", "Materialise chunks first.")
    return part


def known_vectors(parts: Iterable[Part], wanted: set[str]) -> Vectors:
    """The vectors of the `wanted` texts that exist in `parts`, by the hash of the text."""
    known: Vectors = {}
    hashes = pa.array(sorted(wanted), pa.string())
    for part in parts:
        is_wanted = pc.is_in(part.read(["input_hash"])["input_hash"], hashes) if part.rows else None
        if is_wanted is not None and pc.any(is_wanted).as_py():
            rows = part.read(["input_hash", "vector"]).filter(is_wanted)
            known.update(zip(rows["input_hash"].to_pylist(), matrix(rows["vector"]), strict=True))
    return known


def matrix(vectors: pa.ChunkedArray) -> NDArray[np.float32]:
    """A column of lists of equal length as an array (rows, dimensions)."""
    flat = vectors.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(flat.reshape(len(vectors), -1), dtype=np.float32)


def _embed(work: Work, embedder: Embedder, texts: dict[str, str]) -> Iterator[tuple[Vectors, Failures]]:
    hashes = sorted(texts, key=lambda key: len(texts[key]))
    for start in range(0, len(hashes), BATCH):
        batch = hashes[start : start + BATCH]
        with charged_to(work.account(ASSET)):
            vectors, failed = embed_each(embedder, [texts[key] for key in batch])
        made = {
            key: vector for place, (key, vector) in enumerate(zip(batch, vectors, strict=True)) if place not in failed
        }
        yield made, {batch[place]: error for place, error in failed.items()}


def _write(
    work: Work,
    chunks: Part,
    rows: Sequence[_Chunk],
    known: Vectors,
    failed: Failures,
    new: set[str],
    embedder: Embedder,
    made_with: str,
) -> ShardReport:
    papers = {row["paper_id"] for row in rows}
    changed = {row["paper_id"] for row in rows if row["input_hash"] in new}
    previous = work.parts.head(ASSET, chunks.shard)
    before = set(previous.read(["paper_id"])["paper_id"].to_pylist()) if previous else set()
    failures = [_failure(row, failed[row["input_hash"]]) for row in rows if row["input_hash"] in failed]
    embedded = [row for row in rows if row["input_hash"] not in failed]
    work.parts.write(
        ASSET,
        chunks.shard,
        {ASSET: _table(embedded, known, embedder.model_id), FAILURES: table_of(FAILURES, failures)},
        inputs={"chunks": chunks.asset_version},
        code_version=made_with,
    )
    return ShardReport(
        chunks.shard,
        total=len(papers),
        reused=len(papers - changed),
        recomputed=len(changed),
        deleted=len(before - papers),
        recomputed_ids=sorted(changed),
        failed=len({row["paper_id"] for row in failures}),
        failures=dict(Counter(row["error_type"] for row in failures)),
    )


def _failure(row: _Chunk, error: ModelCallError) -> ChunkFailureRow:
    return {
        "paper_id": row["paper_id"],
        "chunk_id": row["chunk_id"],
        "error_type": type(error).__name__,
        "message": str(error),
        "failed": True,
        "dropped": 0,
    }


def _table(rows: Sequence[_Chunk], known: Vectors, model: str) -> pa.Table:
    columns = {
        "chunk_id": [row["chunk_id"] for row in rows],
        "paper_id": [row["paper_id"] for row in rows],
        "input_hash": [row["input_hash"] for row in rows],
        "model": [model] * len(rows),
        "vector": [known[row["input_hash"]] for row in rows],
    }
    return pa.Table.from_pydict(columns, schema=TABLES[ASSET].schema)
