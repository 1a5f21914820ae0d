"""Level 1 as it is stored: equal bytes for equal input, what became of communities, what metadata say, and purging."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from monjyu_assets.indexing.index_operations import purge_paper
from monjyu_assets.orchestration.assets.level_1 import community_metadata, graph_metadata
from monjyu_assets.orchestration.checks.paper_checks import COMMUNITY_CHECKS, measure
from monjyu_assets.orchestration.reporting.snapshot_metadata import lineage_metadata
from monjyu_assets.planning.estimating import estimate_upgrade
from monjyu_assets.publishing.database import lineage_counts
from monjyu_core.storage.collection import save_record
from monjyu_core.storage.schemas import TABLES
from monjyu_core.storage.snapshot import open_current
from tests.assets.changes import built_world, paper_text
from tests.assets.worlds import World

LEVEL_1 = [name for name, spec in TABLES.items() if spec.level == 1 and not spec.view]
SECRET = "The zyzzyva weevil eats the quokka pasture. A zyzzyva weevil dreads the quokka pasture."
SECRETS = ("zyzzyva", "quokka")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Four papers at level 1. Tests that change it leave it with the same papers."""
    return built_world(tmp_path_factory.mktemp("world"), papers=4, level=1)


def versions(world: World) -> dict[tuple[str, str], str]:
    """Hashes of the bytes of all level 1 files."""
    return {(part.table, part.shard): part.version for name in LEVEL_1 for part in world.work.parts.heads(name)}


def lineage(world: World) -> list[dict[str, Any]]:
    snapshot = open_current(world.work.folder)
    rows = snapshot.cursor().sql("SELECT * FROM community_lineage ORDER BY ALL").to_arrow_table().to_pylist()
    snapshot.close()
    return rows


def database(world: World) -> Path:
    snapshot = open_current(world.work.folder)
    snapshot.close()
    return snapshot.database


def members(path: Path) -> dict[str, set[str]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        rows = connection.execute("SELECT community_id, list(phrase) FROM community_members GROUP BY ALL").fetchall()
    return {key: set(phrases) for key, phrases in rows}


def test_the_same_input_gives_the_same_bytes(world: World, tmp_path: Path) -> None:
    again = World(tmp_path / "data", world.papers)
    again.build(level=0)
    assert estimate_upgrade(again.data, "c", 1).seconds > 0
    again.build(level=1)
    assert "seconds" not in estimate_upgrade(again.data, "c", 1).as_json()
    assert {TABLES[name].asset for name in LEVEL_1} == {"noun_phrases", "noun_graph", "communities"}
    assert {table for table, _ in versions(world)} == set(LEVEL_1)
    assert versions(again) == versions(world)


def test_each_community_names_the_previous_ones_that_it_overlaps_most(world: World) -> None:
    before = database(world)
    old = members(before)
    (world.papers / "p1.md").write_text(paper_text(77))
    world.build(level=1)
    new = members(database(world))
    rows = lineage(world)
    for row in rows:
        a, b = new[row["community_id"]], old[row["previous_id"]]
        assert (row["graph"], row["shared"]) == ("phrases", len(a & b))
        assert row["jaccard"] == pytest.approx(len(a & b) / len(a | b))
    best = {row["community_id"]: row["jaccard"] for row in rows if row["rank"] == 1}
    expected = {key: max((len(a & b) / len(a | b) for b in old.values()), default=0) for key, a in new.items()}
    assert best == pytest.approx({key: value for key, value in expected.items() if value})
    counts = lineage_counts(database(world))["phrases"]
    assert counts["kept"] == sum(value == 1 for value in expected.values())
    assert counts["changed"] == sum(0.5 <= value < 1 for value in expected.values())
    assert sum(counts.values()) == len(new)
    assert lineage_metadata({"phrases": counts})["communities_of_phrases"].value == counts
    (world.papers / "p1.md").write_text(paper_text(1))
    world.build(level=1)


def test_the_metadata_show_sizes_plots_coverage_and_shared_phrases(world: World) -> None:
    nodes, communities = (world.work.parts.heads(name)[0] for name in ("graph_nodes", "communities"))
    graph = graph_metadata(world.work, nodes)
    assert graph["nodes"] == nodes.rows > 0 < graph["edges"]
    found = community_metadata(world.work, communities, measure(world.work, COMMUNITY_CHECKS)["chunks_covered"])
    assert found["communities"] == communities.rows and 0.5 < found["chunks_covered"] <= 1
    for plot in (graph["degrees"], found["sizes"]):
        assert plot.value.startswith("![plot](data:image/svg+xml;base64,")
    assert sum(found["levels"].value.values()) == communities.rows
    assert re.search(r"\| \d+ \| \d+ \| `\w+", found["largest_communities"].value), "top phrases of a community"


def test_a_purge_leaves_no_phrase(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_DATA", str(world.data.root))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    (world.papers / "secret.md").write_text(f"{paper_text(8)}\n\n## Discussion\n\n{SECRET}\n\n## More\n\n{SECRET}\n")
    world.build(level=1)
    nodes = {row["phrase"] for row in world.tables()["graph_nodes"]}
    assert {"zyzzyva weevil", "quokka pasture"} <= nodes, "the graph held it"
    save_record(world.work.folder, world.work.record.model_copy(update={"level": 1}))
    paper_id = next(row["paper_id"] for row in world.tables()["papers"] if row["paper_id"].startswith("secret-"))
    purge_paper(world.data, "c", paper_id)
    snapshot = open_current(world.work.folder)
    assert snapshot.manifest.level == 1 and snapshot.manifest.rows["communities"] > 0
    snapshot.close()
    for path in world.data.root.rglob("*"):
        if path.suffix == ".parquet":
            assert not any(word in str(pq.read_table(path, partitioning=None).to_pylist()) for word in SECRETS), path
        elif path.is_file():
            content = path.read_bytes().lower()
            assert not any(word.encode() in content for word in SECRETS), path
