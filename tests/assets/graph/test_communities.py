"""Communities: the maximum size is kept, the same graph gives the same ones, ids come from members."""

from __future__ import annotations

import itertools
import random

import pyarrow as pa
import pytest

from monjyu_assets.levels.graph.phrase_communities import Edges, community_id, community_tables, hierarchy, walk
from monjyu_assets.levels.graph.rules import PartitionRules, partition_rules
from monjyu_core.settings.settings import GraphSettings
from monjyu_core.storage.schemas import TABLES
from tests.properties import examples, given, st

BACKENDS = ["igraph", "leidenalg", "graspologic-native", "louvain"]


def rules(
    backend: str = "igraph",
    max_size: int = 5,
    *,
    resolution: float = 1.0,
    seed: int = 42,
    largest_component: bool = False,
) -> PartitionRules:
    return PartitionRules(backend, max_size, resolution, seed, largest_component=largest_component)


Edge = tuple[int, int, float]


def graph(edges: list[Edge]) -> Edges:
    return Edges.of([x for x, _, _ in edges], [y for _, y, _ in edges], [weight for *_, weight in edges])


def clique(nodes: range) -> list[Edge]:
    return [(x, y, 1.0) for x, y in itertools.combinations(nodes, 2)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_too_large_is_split_until_none_is_even_a_clique(backend: str) -> None:
    found = hierarchy(40, graph(clique(range(23)) + clique(range(23, 40)) + [(0, 39, 0.1)]), rules(backend))
    assert sorted(n for c in found for n in c.members) == list(range(40))
    for community, parent in walk(found):
        assert community.children or len(community.members) <= 5
        assert community.level == (parent.level + 1 if parent else 0)
        if community.children:
            assert sorted(n for c in community.children for n in c.members) == sorted(community.members)
            assert len(community.children) > 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_cliques_are_two_communities(backend: str) -> None:
    found = hierarchy(8, graph([*clique(range(4)), *clique(range(4, 8)), (3, 4, 0.05)]), rules(backend))
    assert sorted(c.members for c in found) == [(0, 1, 2, 3), (4, 5, 6, 7)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_higher_resolution_gives_smaller_communities(backend: str) -> None:
    ring = [
        edge for start in range(0, 40, 4) for edge in [*clique(range(start, start + 4)), (start, (start + 7) % 40, 1.0)]
    ]
    few, many = (len(hierarchy(40, graph(ring), rules(backend, 40, resolution=value))) for value in (0.05, 1.0))
    assert 1 <= few < many


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_seed_decides_where_the_graph_does_not(backend: str) -> None:
    chance = random.Random(7)
    pairs = itertools.combinations(range(120), 2)
    loose = graph([(x, y, 1.0) for x, y in pairs if chance.random() < 0.06])

    def parts(seed: int) -> list[tuple[int, ...]]:
        return [c.members for c in hierarchy(120, loose, rules(backend, 120, seed=seed))]

    found = [parts(seed) for seed in range(6)]
    assert found == [parts(seed) for seed in range(6)]
    assert any(other != found[0] for other in found[1:])


@examples(20)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.floats(-0.5, 2)), max_size=120), st.integers(2, 6))
def test_any_graph_ends_and_keeps_the_size(raw: list[tuple[int, int, float]], max_size: int) -> None:
    edges = list({(min(x, y), max(x, y)): (min(x, y), max(x, y), w) for x, y, w in raw if x != y}.values())
    found = hierarchy(31, graph(edges), rules(max_size=max_size))
    leaves = [c for c, _ in walk(found) if not c.children]
    assert all(len(c.members) <= max_size for c in leaves)
    linked = {n for x, y, w in edges if w > 0 for n in (x, y)}
    assert sorted(n for c in leaves for n in c.members) == sorted(linked)


def test_only_the_largest_component_where_that_is_asked() -> None:
    found = hierarchy(9, graph(clique(range(4)) + clique(range(5, 8))), rules(largest_component=True))
    assert sorted(n for c in found for n in c.members) == [0, 1, 2, 3]
    assert partition_rules(GraphSettings(profile="graphrag_compat")).largest_component


def sample(seed: int) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Nodes, edges and mentions of twelve phrases in two groups, rows in an order of the seed."""
    names = [f"n{n:02}" for n in range(12)]
    edges = [
        {"source": a, "target": b, "cooccurrences": 2, "weight": 1.0}
        for group in (names[:6], names[6:])
        for a, b in itertools.combinations(group, 2)
    ]
    nodes = [{"phrase": n, "surface": n.upper(), "df": 2, "papers": 1, "tfidf": 1.0, "degree": 5} for n in names]
    mentions = [
        {"paper_id": "p", "chunk_id": f"c{n % 3}", "phrase": name, "surface": name, "count": 1}
        for n, name in enumerate([*names, "unknown phrase"])
    ]
    for rows in (edges, nodes, mentions):
        random.Random(seed).shuffle(rows)
    tables = (("graph_nodes", nodes), ("graph_edges", edges), ("phrase_mentions", mentions))
    nodes_table, edges_table, mentions_table = (
        pa.Table.from_pylist(rows, TABLES[name].schema) for name, rows in tables
    )
    return nodes_table, edges_table, mentions_table


def test_tables_are_the_same_whatever_the_order_and_ids_come_from_members() -> None:
    made = [community_tables(*sample(seed), rules(max_size=4)) for seed in range(3)]
    plain = [
        {name: sorted(map(str, table.cast(TABLES[name].schema).to_pylist())) for name, table in one.items()}
        for one in made
    ]
    assert plain[0] == plain[1] == plain[2]
    communities = made[0]["communities"].to_pylist()
    members: dict[str, list[str]] = {}
    for row in made[0]["community_members"].to_pylist():
        members.setdefault(row["community_id"], []).append(row["phrase"])
    levels = {row["community_id"]: row["level"] for row in communities}
    for row in communities:
        assert row["community_id"] == community_id(row["level"], members[row["community_id"]])
        assert row["size"] == len(members[row["community_id"]])
        assert (row["parent_id"] is None) == (row["level"] == 0)
        if row["parent_id"]:
            assert levels[row["parent_id"]] == row["level"] - 1
            assert set(members[row["community_id"]]) < set(members[row["parent_id"]])
        assert set(row["top_phrases"]) <= {name.upper() for name in members[row["community_id"]]}


def test_a_community_counts_the_chunks_that_hold_a_phrase_of_it() -> None:
    nodes, edges, mentions = sample(0)
    strangers = mentions.slice(0, 1).to_pylist()[0] | {"chunk_id": "elsewhere", "phrase": "no node"}
    more = pa.concat_tables([mentions, pa.Table.from_pylist([strangers], mentions.schema)])
    tables = community_tables(nodes, edges, more, rules(max_size=3))
    members: dict[str, set[str]] = {}
    for row in tables["community_members"].to_pylist():
        members.setdefault(row["community_id"], set()).add(row["phrase"])
    rows = mentions.to_pylist()
    for row in tables["communities"].to_pylist():
        assert row["chunks"] == len({m["chunk_id"] for m in rows if m["phrase"] in members[row["community_id"]]})
