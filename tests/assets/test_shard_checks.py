"""A bad shard shows where it was made; and what stands equals a build from nothing, or is said to differ."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pytest

from monjyu_assets.maintenance.rebuild_comparison import compare_with_rebuild, sampled_shards
from monjyu_assets.orchestration.assets.index_snapshot import PAPER_ASSETS
from monjyu_assets.orchestration.checks.rebuild_check import rebuild_result, verify_rebuild
from monjyu_assets.orchestration.checks.shard_checks import SHARD_CHECKS, look_at_shards
from monjyu_assets.orchestration.partitions import range_tags
from monjyu_assets.orchestration.resources import DataFolderResource, resources_of
from monjyu_core.storage.ids import shard_of
from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import ASSET_TABLES, SHARDS, TABLES
from tests.assets.worlds import World, write_records

TEXTS = {
    str(number): f"This is record {number}. It speaks of graphs with many communities, and of provenance. "
    f"We found that pruning improves recall by {number + 3} percent. The results show that it reduces cost."
    for number in range(6)
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> World:
    root = tmp_path_factory.mktemp("built")
    made = World(root / "data", root / "papers")
    write_records(made.papers, TEXTS)
    made.build(level=4)
    return made


@pytest.fixture
def world(built: World, tmp_path: Path) -> World:
    shutil.copytree(built.data.root, tmp_path / "data")
    return World(tmp_path / "data", built.papers)


def broken(world: World, table: str, change: Callable[[pa.Table], pa.Table]) -> str:
    """The shard of the first part of the table with rows, written again with other rows."""
    asset = TABLES[table].asset
    part = next(part for part in world.work.parts.heads(table) if part.rows)
    head = world.work.parts.head(ASSET_TABLES[asset][0], part.shard)
    assert head is not None
    tables = {name: one.read() for name in ASSET_TABLES[asset] if (one := world.work.parts.head(name, part.shard))}
    tables[table] = change(tables[table])
    world.work.parts.write(
        asset, part.shard, tables, inputs=head.inputs, keys=head.keys, code_version=head.code_version
    )
    return part.shard


def put(column: str, value: Any) -> Callable[[pa.Table], pa.Table]:
    """The table with this value in each row of a column."""

    def change(rows: pa.Table) -> pa.Table:
        place = rows.schema.get_field_index(column)
        return rows.set_column(place, rows.schema.field(place), pa.array([value] * len(rows), rows.schema.types[place]))

    return change


def none_of(rows: pa.Table) -> pa.Table:
    return rows.slice(0, 0)


def unit_twice(rows: pa.Table) -> pa.Table:
    doubled = [[2 * x for x in row] for row in rows["vector"].to_pylist()]
    place = rows.schema.get_field_index("vector")
    return rows.set_column(place, rows.schema.field(place), pa.array(doubled, rows.schema.types[place]))


FAULTS = {
    "papers_have_sentences": ("sentences", put("end", 100_000)),
    "chunks_have_sentences": ("chunks", put("text", " ")),
    "vectors_of_chunks": ("chunk_embeddings", put("input_hash", "of another text")),
    "vectors_of_length_one": ("chunk_embeddings", unit_twice),
    "phrases_of_chunks": ("phrase_mentions", put("chunk_id", "nowhere")),
    "entities_cited": ("entity_mentions", put("sentence_ids", ["nowhere"])),
    "claims_cited": ("claims", put("sentence_ids", [])),
}


def failing(world: World) -> dict[str, list[str]]:
    """The checks that fail, with their shards."""
    found: dict[str, list[str]] = {}
    for asset, checks in SHARD_CHECKS.items():
        for name, by_shard in look_at_shards(world.work, asset, SHARDS).items():
            bad = [shard for shard, one in by_shard.items() if not one.passes(checks[name])]
            found |= {name: bad} if bad else {}
    return found


def test_a_sound_collection_passes_and_each_fault_is_found_in_its_shard(world: World) -> None:
    assert failing(world) == {}
    blocking = {name for checks in SHARD_CHECKS.values() for name, check in checks.items() if check.blocking}
    assert set(FAULTS) == blocking, "each check that blocks has a fault that it finds"
    for name, (table, change) in FAULTS.items():
        shard = broken(world, table, change)
        assert failing(world).get(name) == [shard], name


def test_a_share_counts_only_where_it_says_something(world: World) -> None:
    check = SHARD_CHECKS["chunks"]["papers_have_chunks"]
    broken(world, "chunks", none_of)
    assert "papers_have_chunks" not in failing(world), "of two papers a half is one"
    bad = look_at_shards(world.work, "chunks", SHARDS)["papers_have_chunks"]
    (found,) = [one for one in bad.values() if one.offending]
    found.among = 20
    assert found.passes(check) == (len(found.offending) <= 2)


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        ephemeral.add_dynamic_partitions("collections", ["c"])
        yield ephemeral


def evaluations(result: dg.ExecuteInProcessResult) -> list[dg.AssetCheckEvaluation]:
    found = [event for event in result.all_events if event.event_type_value == "ASSET_CHECK_EVALUATION"]
    return [event.asset_check_evaluation_data for event in found]


def test_dagster_shows_each_shard_and_stops_at_a_bad_one(world: World, instance: dg.DagsterInstance) -> None:
    resources = resources_of(DataFolderResource(root=str(world.data.root)))
    result = dg.materialize(PAPER_ASSETS, instance=instance, resources=resources, tags=range_tags("c"))
    of_shards = {(one.check_name, one.partition) for one in evaluations(result) if one.partition}
    assert of_shards >= {("chunks_have_sentences", f"c|{shard}") for shard in SHARDS}
    shard = broken(world, "chunks", put("text", " "))
    assets = PAPER_ASSETS[2:]
    result = dg.materialize(
        PAPER_ASSETS,
        selection=assets,
        instance=instance,
        resources=resources,
        partition_key=f"c|{shard}",
        raise_on_error=False,
    )
    assert not result.success
    failed = {(one.check_name, one.partition) for one in evaluations(result) if not one.passed}
    assert failed == {("chunks_have_sentences", f"c|{shard}")}


def test_a_rebuild_of_all_shards_is_equal_and_a_part_that_is_not_is_named(world: World, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    found = compare_with_rebuild(world.work, SHARDS, scratch)
    assert (found.papers, found.different) == (6, [])
    assert found.parts > 16 * 12
    assert not scratch.exists()
    shard = broken(world, "sentences", put("text", "Not what the file says."))
    assert compare_with_rebuild(world.work, (shard,), scratch).different == [f"sentences/{shard}"]


def test_a_sample_holds_papers_and_follows_the_seed(world: World) -> None:
    filled = {shard_of(paper) for part in world.work.parts.heads("papers") for paper in _ids(part)}
    assert set(sampled_shards(world.work, 16, "x")) == filled
    assert sampled_shards(world.work, 1, "x") == sampled_shards(world.work, 1, "x")
    assert {sampled_shards(world.work, 1, str(seed)) for seed in range(30)} == {(shard,) for shard in filled}


def _ids(part: Part) -> list[str]:
    ids: list[str] = part.read(["paper_id"])["paper_id"].to_pylist()
    return ids


def test_the_job_tells_what_it_found_and_a_publication_repeats_it(
    world: World, monkeypatch: pytest.MonkeyPatch, instance: dg.DagsterInstance
) -> None:
    resources = resources_of(DataFolderResource(root=str(world.data.root)))
    assert rebuild_result(world.work).description == "Nothing was compared yet: the job verify_rebuild does it."

    def verify() -> bool:
        done = verify_rebuild.execute_in_process(
            instance=instance, resources=resources, partition_key="c", raise_on_error=False
        )
        return done.success

    assert verify()
    told = rebuild_result(world.work)
    assert told.passed
    assert str(told.description).startswith("6 papers of 16 shards were computed again")
    broken(world, "sentences", put("text", "Not what the file says."))
    assert not verify()
    assert not rebuild_result(world.work).passed
    key = dg.AssetCheckKey(dg.AssetKey("index_snapshot"), "identical_to_rebuild")
    history = instance.event_log_storage.get_asset_check_execution_history(key, limit=5)
    assert {record.status.value for record in history} == {"SUCCEEDED", "FAILED"}
