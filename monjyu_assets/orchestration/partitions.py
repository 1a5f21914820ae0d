"""Partitions: collections come and go, shards are sixteen; the hash of a paper's id gives its shard."""

from __future__ import annotations

from collections.abc import Iterable

import dagster as dg

from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.schemas import SHARDS

collections = dg.DynamicPartitionsDefinition(name="collections")
shards = dg.StaticPartitionsDefinition(list(SHARDS))
papers = dg.MultiPartitionsDefinition({"collection": collections, "shard": shards})


def register_collections(instance: dg.DagsterInstance, data: DataFolder | None = None) -> list[str]:
    """Register the collections of a data folder as partitions of an instance, and return the new ones.

    Commands do it for the collection that they index. Another instance (another DAGSTER_HOME) knows none at first, and
    refuses to materialise what it does not know.
    """
    names = (data or DataFolder.default()).collections()
    new = [name for name in names if not instance.has_dynamic_partition(str(collections.name), name)]
    instance.add_dynamic_partitions(str(collections.name), new)
    return new


def shard_key(collection: str, shard: str) -> dg.MultiPartitionKey:
    return dg.MultiPartitionKey({"collection": collection, "shard": shard})


def by_collection(keys: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The shards of each collection among these partition keys, in order."""
    grouped: dict[str, list[str]] = {}
    for key in keys:
        collection, shard = str(key).split("|")
        grouped.setdefault(collection, []).append(shard)
    return {name: tuple(sorted(shards)) for name, shards in grouped.items()}


def range_tags(collection: str, first: str = SHARDS[0], last: str = SHARDS[-1]) -> dict[str, str]:
    """The tags of one run over the shards of a collection from `first` to `last`."""
    return {
        "dagster/asset_partition_range_start": shard_key(collection, first),
        "dagster/asset_partition_range_end": shard_key(collection, last),
    }


def remove_collection(instance: dg.DagsterInstance, name: str) -> bool:
    """Remove a partition; False where there is none of that name."""
    if not instance.has_dynamic_partition(str(collections.name), name):
        return False
    instance.delete_dynamic_partition(str(collections.name), name)
    return True


def partitions_without_index(instance: dg.DagsterInstance, data: DataFolder) -> list[str]:
    """Partitions that no folder, record or index has the name of: most are typing errors in *Add a partition*."""
    known = {*data.collections(), *(path.name for path in data.papers.glob("*") if path.is_dir())}
    names = set(instance.get_dynamic_partitions(str(collections.name)))
    return sorted(name for name in names - known if not data.collection(name).root.exists())
