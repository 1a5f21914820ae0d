"""Code shared by the stages whose assets have one set of parts for all papers, rewritten when its inputs change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from monjyu_assets.stages.chunk_embeddings import BATCH, known_vectors
from monjyu_assets.work.closed_set import input_versions, primary
from monjyu_assets.work.work import Work
from monjyu_core.embedding import embed_each, load_embedder
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_core.storage.ids import digest
from monjyu_core.storage.parts import Part, read_all
from monjyu_core.storage.schemas import COLLECTION_SHARD, Record, table_of

R = TypeVar("R")
Tables = dict[str, pa.Table]
MADE_OF = "made of"


@dataclass(frozen=True)
class CollectionReport:
    """The asset's current primary part, and whether this run computed it."""

    part: Part
    recomputed: bool


def run_collection_stage(
    work: Work,
    asset: str,
    made_with: str,
    compute: Callable[[Work], Tables],
    made_of: Callable[[Work], str] | None = None,
) -> CollectionReport:
    """Compute the asset's tables for the collection, unless code, settings and inputs are unchanged. `made_of` hashes
    the part of the inputs that the tables depend on; if the hash is unchanged, the tables are kept although the inputs
    changed."""
    inputs = input_versions(work.parts, asset, COLLECTION_SHARD)
    head = work.parts.head(primary(asset), COLLECTION_SHARD)
    previous = head if head and head.code_version == made_with else None
    if previous and previous.inputs == inputs:
        return CollectionReport(previous, recomputed=False)
    hashed = {MADE_OF: made_of(work)} if made_of else {}
    if previous and hashed and previous.keys.get(MADE_OF) == hashed[MADE_OF]:
        work.parts.rest_on(asset, COLLECTION_SHARD, inputs)
        return CollectionReport(previous, recomputed=False)
    part = work.parts.write(asset, COLLECTION_SHARD, compute(work), inputs=inputs, keys=hashed, code_version=made_with)
    return CollectionReport(part, recomputed=True)


def whole_rows(work: Work, table: str, row: type[R]) -> list[R]:
    """The rows of a table as records, from all shards."""
    return [record for part in work.parts.heads(table) for record in part.records(row)]


def whole_table(work: Work, table: str, columns: list[str] | None = None) -> pa.Table:
    """The rows of a table from all shards, with `columns` or all columns."""
    return read_all(table, work.parts.heads(table), columns)


# Each text of reports and claims is embedded once; vectors of the same model are reused.
def vector_table(work: Work, asset: str, table: str, rows: Sequence[Record], texts: Sequence[str]) -> pa.Table:
    """The rows of `table`: `rows` with the vectors of `texts`, in order; zero where embedding failed."""
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
            work.warn(f"{len(failed)} rows of {table} have no vector and are found by their words only: {first}")
        work.progress("vectors", start + len(batch), len(order))
    full: list[Record] = [
        {**row, "input_hash": key, "model": embedder.model_id, "vector": known[key]}
        for row, key in zip(rows, hashes, strict=True)
    ]
    return table_of(table, full)
