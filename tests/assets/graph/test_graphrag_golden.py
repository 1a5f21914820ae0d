"""The profile `graphrag_compat` against microsoft/graphrag's own functions (golden.json, made by make_golden.py)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import igraph
import pyarrow as pa
import pytest

from monjyu_assets.levels.graph.cooccurrence import build_graph
from monjyu_assets.levels.graph.phrase_communities import community_tables
from monjyu_assets.levels.graph.rules import COMPAT, GraphRules, PartitionRules, graph_rules, partition_rules
from monjyu_core.settings.settings import GraphSettings
from monjyu_core.storage.schemas import TABLES
from monjyu_query.citations.parquet_export import SHAPES
from tests.conftest import ROOT

GOLDEN = ROOT / "tests" / "data" / "graphrag" / "golden.json"
UNPRUNED = GraphRules(False, 1, 1.0, 1, 0, None, False, 0)
SETTINGS = GraphSettings(profile="graphrag_compat")


@cache
def golden() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


def mentions() -> pa.Table:
    rows = [
        {"paper_id": "p", "chunk_id": unit, "phrase": phrase, "surface": phrase, "count": 1}
        for unit, phrases in golden()["text_units"].items()
        for phrase in phrases
    ]
    return pa.Table.from_pylist(rows, TABLES["phrase_mentions"].schema)


def weighed(edges: pa.Table) -> dict[tuple[str, str], float]:
    return {(row["source"], row["target"]): row["weight"] for row in edges.to_pylist()}


def expected(name: str) -> dict[tuple[str, str], float]:
    return {(source, target): value for source, target, value in golden()[name]}


def test_every_pair_has_the_count_and_the_weight_that_graphrag_gives_it() -> None:
    _, edges = build_graph(mentions(), UNPRUNED)
    assert {(row["source"], row["target"]): row["cooccurrences"] for row in edges.to_pylist()} == expected("counts")
    assert weighed(edges) == pytest.approx(expected("weights"), rel=1e-12, abs=1e-15)


def test_what_graphrag_prunes_is_pruned() -> None:
    assert graph_rules(SETTINGS) == COMPAT
    defaults = golden()["pruning"]
    assert (COMPAT.min_df, COMPAT.min_degree, COMPAT.edge_percentile, COMPAT.remove_hub, COMPAT.max_degree_std) == (
        *(defaults[name] for name in ("min_node_freq", "min_node_degree", "min_edge_weight_pct", "remove_ego_nodes")),
        defaults["max_node_degree_std"],
    )
    nodes, edges = build_graph(mentions(), COMPAT)
    assert nodes["phrase"].to_pylist() == golden()["nodes"]
    assert "COMMON TERM" not in golden()["nodes"]
    assert weighed(edges) == pytest.approx(expected("edges"), rel=1e-12)


def test_communities_hold_what_graphrags_hold_as_well_parted_and_none_is_too_large() -> None:
    nodes, edges = build_graph(mentions(), COMPAT)
    rules = partition_rules(SETTINGS)
    assert rules.max_size == golden()["max_cluster_size"]
    made = community_tables(nodes, edges, mentions(), rules)
    top = {row["community_id"]: row for row in made["communities"].to_pylist()}
    ours: dict[str, list[str]] = {}
    for row in made["community_members"].to_pylist():
        ours.setdefault(row["community_id"], []).append(row["phrase"])
    theirs = golden()["communities"]
    coarsest = [members for key, members in ours.items() if top[key]["level"] == 0]
    coarsest_of_theirs = [row["entity_ids"] for row in theirs if row["level"] == 0]
    assert {name for members in coarsest for name in members} == {n for row in coarsest_of_theirs for n in row}
    assert modularity(edges, coarsest) >= modularity(edges, coarsest_of_theirs) - 0.005
    parents = {row["parent_id"] for row in top.values()}
    assert all(len(members) <= rules.max_size for key, members in ours.items() if key not in parents)


def modularity(edges: pa.Table, parts: list[list[str]]) -> float:
    label = {name: number for number, members in enumerate(parts) for name in members}
    rows = [row for row in edges.to_pylist() if row["source"] in label and row["target"] in label]
    graph = igraph.Graph.TupleList([(row["source"], row["target"], row["weight"]) for row in rows], weights=True)
    return float(graph.modularity([label[name] for name in graph.vs["name"]], weights="weight"))


def test_the_largest_component_is_that_of_the_rules() -> None:
    rules = partition_rules(SETTINGS)
    assert rules == PartitionRules("graspologic-native", 10, 1.0, 0xDEADBEEF, largest_component=True)


def test_exported_tables_have_graphrags_names_and_columns_in_its_order() -> None:
    assert {name: shape.names for name, shape in SHAPES.items()} == golden()["columns"]
