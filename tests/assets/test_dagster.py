"""The assets under Dagster: one event an asset and collection, failures seen, a broken set blocked."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from monjyu_assets.orchestration.assets.index_snapshot import ALL_ASSETS, index_snapshot
from monjyu_assets.orchestration.assets.level_0 import LEVEL_0
from monjyu_assets.orchestration.resources import DataFolderResource, resources_of
from monjyu_core.storage.schemas import ASSET_TABLES
from tests.assets.worlds import World, write_records

TEXTS = {str(number): f"This is record {number}. It speaks of graphs and of provenance." for number in range(5)}


Ran = tuple[World, dg.DagsterInstance]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    """Five records and one that is broken, and the instance whose runs made their index."""
    folder = tmp_path_factory.mktemp("ran")
    world = World(folder / "data", folder / "papers")
    write_records(world.papers, TEXTS)
    with (world.papers / "records.jsonl").open("a") as file:
        file.write("{broken\n")
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("collections", ["c"])
        run(world, instance)
        yield world, instance


ASSETS = [asset.key.path[-1] for asset in LEVEL_0]


def run(world: World, instance: dg.DagsterInstance) -> None:
    resources = resources_of(DataFolderResource(root=str(world.data.root)))
    assert dg.materialize([*LEVEL_0, index_snapshot], instance=instance, resources=resources, partition_key="c").success


def versions(instance: dg.DagsterInstance) -> dict[str, str]:
    """The data version of each asset, from its last event."""
    found = {}
    for asset in ASSETS:
        event = newest(instance, asset)
        found[asset] = (event.tags or {})["dagster/data_version"]
    return found


def newest(instance: dg.DagsterInstance, asset: str) -> dg.AssetMaterialization:
    wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), asset_partitions=["c"])
    event = instance.fetch_materializations(wanted, limit=1).records[0].asset_materialization
    assert event is not None
    return event


def test_an_asset_is_one_event_of_the_collection_which_counts_failures(ran: Ran) -> None:
    _, instance = ran
    for asset in ASSETS:
        assert instance.get_materialized_partitions(dg.AssetKey(asset)) == {"c"}
        assert len(instance.fetch_materializations(dg.AssetKey(asset), limit=9).records) == 1
    metadata = newest(instance, "parsed_papers").metadata
    assert (metadata["papers_failed"].value, metadata["failures"].value) == (1, {"MalformedDocument": 1})


def test_the_checks_block_a_broken_set(ran: Ran, tmp_path: Path) -> None:
    whole, instance = ran
    shutil.copytree(whole.data.root, tmp_path / "data")
    world = World(tmp_path / "data", whole.papers)
    part = next(part for part in world.work.parts.heads("chunks") if part.rows)
    tables = {name: world.work.parts.head(name, part.shard).read() for name in ASSET_TABLES["chunks"]}  # type: ignore[union-attr]
    rows = tables["chunks"]
    broken = rows.set_column(rows.column_names.index("pieces"), "pieces", [[9999] * len(rows)])
    written = world.work.parts.write(
        "chunks", part.shard, tables | {"chunks": broken}, inputs=part.inputs, keys=part.keys, code_version="broken"
    )
    embeddings = world.work.parts.head("chunk_embeddings", part.shard)
    assert embeddings is not None
    world.work.parts.write(
        "chunk_embeddings",
        part.shard,
        {"chunk_embeddings": embeddings.read()},
        inputs={"chunks": written.asset_version},
        code_version="broken",
    )
    resources = resources_of(DataFolderResource(root=str(world.data.root)))
    result = dg.materialize(
        [*LEVEL_0, index_snapshot],
        selection=[*LEVEL_0[4:], index_snapshot],
        instance=instance,
        resources=resources,
        partition_key="c",
        raise_on_error=False,
    )
    assert not result.success
    found = [event for event in result.all_events if event.event_type_value == "ASSET_CHECK_EVALUATION"]
    failed = [event.asset_check_evaluation_data for event in found if not event.asset_check_evaluation_data.passed]
    assert [(one.check_name, one.description) for one in failed] == [("snapshot_whole", "Failed: fits_window.")]


def test_only_what_depends_on_a_changed_paper_has_another_data_version(ran: Ran) -> None:
    """It changes what the others look at, so it comes after them."""
    world, instance = ran
    before = versions(instance)
    run(world, instance)
    assert versions(instance) == before, "nothing changed"
    write_records(world.papers, TEXTS | {"0": "Another text stands here now."})
    with (world.papers / "records.jsonl").open("a") as file:
        file.write("{broken\n")
    run(world, instance)
    after = versions(instance)
    changed = {asset for asset in ASSETS if before[asset] != after[asset]}
    assert changed == {"paper_manifest", "parsed_papers", "chunks", "chunk_embeddings"}
    metadata = newest(instance, "chunks").metadata
    assert (metadata["papers_recomputed"].value, metadata["papers_reused"].value) == (1, 4)


def test_definitions_say_what_a_data_engineer_needs() -> None:
    for asset in [*ALL_ASSETS, index_snapshot]:
        spec = next(iter(asset.specs))
        assert spec.description and spec.owners and spec.kinds and spec.code_version and spec.group_name
        assert isinstance(asset.partitions_def, dg.DynamicPartitionsDefinition)
