"""The one partition dimension: collections, which come and go."""

from __future__ import annotations

import dagster as dg

from monjyu_core.storage.folders import DataFolder

COLLECTIONS = "collections"
collections = dg.DynamicPartitionsDefinition(name=COLLECTIONS)


def known_collections(instance: dg.DagsterInstance) -> set[str]:
    """The partitions of this instance, with or without an index."""
    return set(instance.get_dynamic_partitions(COLLECTIONS))


def add_collections(instance: dg.DagsterInstance, names: list[str]) -> list[str]:
    """Add the names that are no partitions yet, and return them."""
    new = sorted({*names} - known_collections(instance))
    if new:
        instance.add_dynamic_partitions(COLLECTIONS, new)
    return new


def remove_collection(instance: dg.DagsterInstance, name: str) -> bool:
    """Remove a partition; False where there is none of that name."""
    if not instance.has_dynamic_partition(COLLECTIONS, name):
        return False
    instance.delete_dynamic_partition(COLLECTIONS, name)
    return True


def partitions_without_index(instance: dg.DagsterInstance, data: DataFolder) -> list[str]:
    """Partitions that no folder, record or index has the name of: most are typing errors in *Add a partition*."""
    known = {*data.collections(), *(path.name for path in data.papers.glob("*") if path.is_dir())}
    return sorted(name for name in known_collections(instance) - known if not data.collection(name).root.exists())
