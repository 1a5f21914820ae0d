"""The closed set: current parts of which each rests on the current version of what it was made from."""

from __future__ import annotations

from collections.abc import Mapping

from monjyu_core.errors import IndexBuildError
from monjyu_core.parts import Part, PartStore
from monjyu_core.schemas import ASSET_TABLES, SHARDS

LEVEL_0 = ("paper_manifest", "parsed_papers", "chunks", "chunk_embeddings")
"""The shard assets of level 0 in the order in which they rest on each other."""


def lagging(parts: PartStore, shard: str) -> str | None:
    """The first asset of a shard that is missing or rests on an older version, or None."""
    version = ""
    for position, asset in enumerate(LEVEL_0):
        part = parts.head(ASSET_TABLES[asset][0], shard)
        if part is None or (position and part.inputs.get(LEVEL_0[position - 1]) != version):
            return asset
        version = part.asset_version
    return None


def closed_set(parts: PartStore, collection: str) -> list[Part]:
    """All parts of level 0. IndexBuildError where a shard lags, naming what to materialise."""
    behind = {shard: asset for shard in SHARDS if (asset := lagging(parts, shard))}
    if behind:
        raise IndexBuildError(
            f"Level 0 of {collection} is not whole: {describe(behind)}.",
            f"Materialise these shards, or run `monjyu index` for {collection}.",
        )
    tables = [table for asset in LEVEL_0 for table in ASSET_TABLES[asset]]
    return [part for table in tables for part in parts.heads(table, SHARDS)]


def describe(behind: Mapping[str, str]) -> str:
    """`chunks lags in shards 1 2`."""
    by_asset: dict[str, list[str]] = {}
    for shard, asset in behind.items():
        by_asset.setdefault(asset, []).append(shard)
    return "; ".join(f"{asset} lags in shards {' '.join(shards)}" for asset, shards in by_asset.items())
