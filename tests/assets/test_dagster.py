"""The assets under Dagster: one run over all shards, each shard reported on its own, failures seen, runs quiet."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from monjyu_assets.definitions import defs
from monjyu_assets.orchestration.assets.index_snapshot import (
    ALL_ASSETS,
    COLLECTION_ASSETS,
    PAPER_ASSETS,
    index_snapshot,
)
from monjyu_assets.orchestration.partitions import range_tags
from monjyu_assets.orchestration.resources import DataFolderResource, resources_of
from monjyu_assets.publishing.closed_set import RESTS_ON
from monjyu_core.storage.schemas import ASSET_TABLES, SHARDS, TABLES
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


PAPER_TABLES = [
    asset for asset in RESTS_ON if TABLES[ASSET_TABLES[asset][0]].by_shard and not TABLES[ASSET_TABLES[asset][0]].level
]


def run(world: World, instance: dg.DagsterInstance) -> None:
    resources = resources_of(DataFolderResource(root=str(world.data.root)))
    assert dg.materialize(PAPER_ASSETS, instance=instance, resources=resources, tags=range_tags("c")).success
    assert dg.materialize(
        [*PAPER_ASSETS, *COLLECTION_ASSETS, index_snapshot],
        selection=[*COLLECTION_ASSETS, index_snapshot],
        instance=instance,
        resources=resources,
        partition_key="c",
    ).success


def versions(instance: dg.DagsterInstance, asset: str) -> dict[str, str]:
    """The data version of each shard, from its last event."""
    found = {}
    for shard in SHARDS:
        records = instance.fetch_materializations(
            dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), asset_partitions=[f"c|{shard}"]), limit=1
        ).records
        event = records[0].asset_materialization
        assert event is not None
        found[shard] = (event.tags or {})["dagster/data_version"]
    return found


def test_metadata_tells_failures(ran: Ran) -> None:
    _, instance = ran
    failed, causes = 0, []
    for shard in SHARDS:
        records = instance.fetch_materializations(
            dg.AssetRecordsFilter(asset_key=dg.AssetKey("parsed_papers"), asset_partitions=[f"c|{shard}"]), limit=1
        ).records
        event = records[0].asset_materialization
        assert event is not None
        failed += int(event.metadata["papers_failed"].value)  # type: ignore[arg-type]
        causes += [event.metadata["failures"].value] if "failures" in event.metadata else []
    assert failed == 1
    assert causes == [{"MalformedDocument": 1}]


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
        [*PAPER_ASSETS, *COLLECTION_ASSETS, index_snapshot],
        selection=[*COLLECTION_ASSETS, index_snapshot],
        instance=instance,
        resources=resources,
        partition_key="c",
        raise_on_error=False,
    )
    assert not result.success
    failed = [
        event.asset_check_evaluation_data.check_name
        for event in result.all_events
        if event.event_type_value == "ASSET_CHECK_EVALUATION" and not event.asset_check_evaluation_data.passed
    ]
    assert failed == ["fits_window"]


def test_each_shard_has_its_own_data_version_and_only_changed_ones_move(ran: Ran) -> None:
    """It changes what the others look at, so it comes after them."""
    world, instance = ran
    before = {asset: versions(instance, asset) for asset in PAPER_TABLES}
    heads = {shard: world.work.parts.head("chunks", shard) for shard in SHARDS}
    assert before["chunks"] == {shard: head.asset_version for shard, head in heads.items() if head}
    write_records(world.papers, TEXTS | {"0": "Another text stands here now."})
    run(world, instance)
    after = {asset: versions(instance, asset) for asset in PAPER_TABLES}
    moved = {asset: [s for s in SHARDS if before[asset][s] != after[asset][s]] for asset in PAPER_TABLES}
    assert len(moved["chunks"]) == 1
    assert moved["chunks"] == moved["chunk_embeddings"]


def test_definitions_say_what_a_data_engineer_needs() -> None:
    for asset in [*ALL_ASSETS, index_snapshot]:
        spec = next(iter(asset.specs))
        assert spec.description and spec.owners and spec.kinds and spec.code_version and spec.group_name
    assert {job.name for job in defs.resolve_all_job_defs()} >= {
        f"step_level_{level}_{what}" for level in (0, 1, 2, 4) for what in ("papers", "collection")
    }
