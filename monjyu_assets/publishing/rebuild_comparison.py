"""Compares a collection with a build from scratch: shards are computed again in a separate folder.

Only levels 0 and 1 are compared, which are deterministic and free. Vectors are compared as numbers, because their last
bit may depend on the machine; other tables are compared by the hash of their rows.
"""

import random
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from monjyu_assets.stages.chunk_embeddings import embed_shards, matrix
from monjyu_assets.stages.chunks import chunk_shards
from monjyu_assets.stages.citation_network import build_network
from monjyu_assets.stages.communities import find_communities
from monjyu_assets.stages.noun_graph import build_noun_graph
from monjyu_assets.stages.noun_phrases import phrase_shards
from monjyu_assets.stages.paper_identity import find_identities
from monjyu_assets.stages.parsed_papers import parse_shards
from monjyu_assets.stages.shared.corrected_papers import corrections_for
from monjyu_assets.work.work import ShardReport, Work
from monjyu_core.records.corrections import hand_over
from monjyu_core.storage.collection import save_record
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, SHARDS

VECTORS = "chunk_embeddings"
NEARLY = 1e-4
"""The maximum difference of a component of a vector of length one."""

PAPER_STAGES: dict[str, Callable[[Work, tuple[str, ...]], Iterable[ShardReport]]] = {
    "parsed_papers": parse_shards,
    "chunks": chunk_shards,
    VECTORS: embed_shards,
    "noun_phrases": phrase_shards,
}
COLLECTION_STAGES: dict[str, Callable[[Work], object]] = {
    "paper_identity": find_identities,
    "citation_network": build_network,
    "noun_graph": build_noun_graph,
    "communities": find_communities,
}


@dataclass(frozen=True)
class Compared:
    """The result of a comparison: the recomputed shards and papers, and the parts (`table/bucket`) that differ."""

    shards: tuple[str, ...]
    papers: int
    parts: int
    different: list[str]


def sampled_shards(work: Work, count: int, seed: str) -> tuple[str, ...]:
    """`count` shards that contain papers, chosen by `seed`; all such shards if there are not more."""
    filled = [shard for shard in SHARDS if any(part.rows for part in _parts(work, "manifest", (shard,)))]
    return tuple(sorted(random.Random(seed).sample(filled, min(count, len(filled)))))


def compare_with_rebuild(work: Work, shards: Sequence[str], scratch: Path) -> Compared:
    """Compute `shards` again below `scratch`, which is removed afterwards, and compare all their parts. If all shards
    are given, also compare the parts of the whole collection."""
    chosen = tuple(shards)
    with _from_nothing(work, chosen, scratch) as fresh:
        made = [asset for asset in PAPER_STAGES if _is_there(work, asset, chosen)]
        for asset in made:
            for _ in PAPER_STAGES[asset](fresh, chosen):
                pass
        buckets = {asset: work.buckets(chosen) for asset in made}
        if len(chosen) == len(SHARDS):
            for asset, stage in COLLECTION_STAGES.items():
                if work.parts.head(ASSET_TABLES[asset][0], COLLECTION_SHARD):
                    stage(fresh)
                    buckets[asset] = [COLLECTION_SHARD]
        pairs = [
            (table, bucket, work.parts.head(table, bucket), fresh.parts.head(table, bucket))
            for asset, of_asset in buckets.items()
            for table in ASSET_TABLES[asset]
            for bucket in of_asset
        ]
        different = [f"{table}/{bucket}" for table, bucket, stands, again in pairs if not _equal(table, stands, again)]
        papers = sum(part.rows for part in _parts(work, "manifest", chosen))
        return Compared(chosen, papers, len(pairs), different)


@contextmanager
def _from_nothing(work: Work, shards: tuple[str, ...], scratch: Path) -> Iterator[Work]:
    """A context with a new collection that has the same record, corrections and buckets, and the files of `shards`."""
    shutil.rmtree(scratch, ignore_errors=True)  # from a run that was killed
    fresh = Work(DataFolder(scratch), work.name, work.progress, work.warn, work.run_id)
    try:
        save_record(fresh.folder, work.record)
        hand_over(fresh.folder, corrections_for(work))
        for shard in SHARDS:
            fresh.parts.set_buckets(shard, work.parts.bucket_count(shard))
        for part in _parts(work, "manifest", shards):
            rows = {"manifest": part.read()}
            fresh.parts.write("paper_manifest", part.shard, rows, inputs={}, code_version=part.code_version)
        yield fresh
    finally:
        fresh.close()
        shutil.rmtree(scratch, ignore_errors=True)


def _parts(work: Work, table: str, shards: tuple[str, ...]) -> list[Part]:
    return [part for bucket in work.buckets(shards) if (part := work.parts.head(table, bucket))]


def _is_there(work: Work, asset: str, shards: tuple[str, ...]) -> bool:
    if asset == VECTORS and work.settings.embedding.remote:
        return False  # vectors of a server cost money and may not be reproducible
    return bool(_parts(work, ASSET_TABLES[asset][0], shards))


def _equal(table: str, stands: Part | None, again: Part | None) -> bool:
    if stands is None or again is None:
        return stands is again
    if stands.data_version != again.data_version:
        return False
    if table != VECTORS or not stands.rows:
        return True
    one, other = (matrix(part.read(["vector"])["vector"]) for part in (stands, again))
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=0, atol=NEARLY))
