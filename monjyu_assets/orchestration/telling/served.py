"""Which snapshot readers are served, told to Dagster after a rollback: its page would go on showing the newest."""

from __future__ import annotations

from contextlib import suppress

import dagster as dg

from monjyu_assets.orchestration.instance import open_instance
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.results import Metadata
from monjyu_core.storage.folders import CollectionFolder, DataFolder
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.snapshot import read_current


def tell_served(data: DataFolder, name: str) -> None:
    """Report the snapshot that CURRENT names as the asset's newest event, without a run.

    What readers see has changed already: that Dagster cannot be told stops nothing.
    """
    folder = data.collection(name)
    current = read_current(folder)
    if current is None:
        return
    manifest = read_manifest(folder, current)
    with suppress(Exception), open_instance(data) as instance:
        if not instance.has_dynamic_partition(str(collections.name), name):
            return
        instance.report_runless_asset_event(
            dg.AssetMaterialization(
                asset_key="index_snapshot",
                partition=name,
                description=f"{name} serves {current}: {_why(folder)}.",
                metadata={
                    "snapshot_id": current,
                    "new": False,
                    "level": manifest.level,
                    "dagster/row_count": manifest.rows["chunks"],
                    "papers": manifest.rows["papers"],
                    **served_metadata(folder, current),
                },
                tags={
                    "dagster/data_version": manifest.content,
                    "dagster/data_version_is_user_provided": "true",
                    "dagster/partition/collection": name,
                },
            )
        )


def _why(folder: CollectionFolder) -> str:
    return "an operator went back to it" if folder.hold.is_file() else "a rollback has ended"


def served_metadata(folder: CollectionFolder, published: str) -> Metadata:
    """Whether readers are served the snapshot that was published, or an older one that a rollback holds."""
    current = read_current(folder)
    held = " (held by a rollback: `monjyu snapshots rollback --release` ends it)" if folder.hold.is_file() else ""
    return {"served": "this snapshot" + held if current == published else f"{current}{held}"}
