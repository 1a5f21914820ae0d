"""The noun graph: weights, pruning, and that the order of rows changes nothing."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pyarrow as pa
import pytest

from monjyu_assets.levels.graph.cooccurrence import build_graph
from monjyu_assets.levels.graph.rules import COMPAT, GraphRules, central_chunks, graph_rules
from monjyu_core.settings.settings import GraphSettings
from monjyu_core.storage.schemas import TABLES

ALL = GraphRules(
    prune_first=True,
    min_df=1,
    max_df_share=1.0,
    min_cooccurrences=1,
    min_degree=0,
    max_degree_std=None,
    remove_hub=False,
    edge_percentile=0,
    max_edges=0,
)


def mentions(chunks: dict[str, str], *, shuffled: int | None = None) -> pa.Table:
    """Chunk id to its phrases, one letter each; the paper is the first letter of the chunk's id."""
    rows = [
        {"paper_id": chunk[0], "chunk_id": chunk, "phrase": p, "surface": p.upper(), "count": 1}
        for chunk, found in chunks.items()
        for p in found
    ]
    if shuffled is not None:
        random.Random(shuffled).shuffle(rows)
    return pa.Table.from_pylist(rows, TABLES["phrase_mentions"].schema)


CHUNKS = {"p1": "abc", "p2": "ab", "p3": "bc", "q1": "ad", "q2": "abd", "q3": "e"}


def test_nodes_and_weights_are_those_of_the_formula() -> None:
    nodes, edges = build_graph(mentions(CHUNKS), ALL)
    by_phrase = {row["phrase"]: row for row in nodes.to_pylist()}
    assert {p: row["df"] for p, row in by_phrase.items()} == {"a": 4, "b": 4, "c": 2, "d": 2, "e": 1}
    assert {p: row["papers"] for p, row in by_phrase.items()} == {"a": 2, "b": 2, "c": 1, "d": 1, "e": 1}
    assert {p: row["degree"] for p, row in by_phrase.items()} == {"a": 3, "b": 3, "c": 2, "d": 2, "e": 0}
    assert by_phrase["a"]["tfidf"] == pytest.approx(4 * math.log(6 / 4))
    assert by_phrase["a"]["surface"] == "A"
    ab = next(row for row in edges.to_pylist() if (row["source"], row["target"]) == ("a", "b"))
    pairs, df = 3 + 1 + 2 + 2 + 1, 13  # ab ac bc ad bd
    assert ab["cooccurrences"] == 3
    assert ab["weight"] == pytest.approx(3 / pairs * math.log2((3 / pairs) / ((4 / df) * (4 / df))))


def test_the_order_of_rows_changes_nothing() -> None:
    first = build_graph(mentions(CHUNKS), graph_rules(GraphSettings()))
    for seed in range(3):
        again = build_graph(mentions(CHUNKS, shuffled=seed), graph_rules(GraphSettings()))
        assert [t.to_pylist() for t in first] == [t.to_pylist() for t in again]


def test_rare_phrases_and_hubs_go_before_pairs_are_made() -> None:
    nodes, _ = build_graph(mentions(CHUNKS), replace(ALL, min_df=2))
    assert nodes["phrase"].to_pylist() == ["a", "b", "c", "d"]
    many = {f"p{n}": "h" + "xyz"[n % 3] for n in range(60)}
    nodes, edges = build_graph(mentions(many), replace(ALL, max_df_share=0.5))
    assert nodes["phrase"].to_pylist() == ["x", "y", "z"]
    assert edges.num_rows == 0


def test_an_edge_stays_that_is_among_the_heaviest_of_one_of_its_ends() -> None:
    chance = random.Random(3)
    crowded = {f"p{n}": "".join(chance.sample("abcdefghijklmnop", 5)) for n in range(40)}
    _, every = build_graph(mentions(crowded), ALL)
    of_end: dict[str, list[tuple[float, str]]] = {}
    for row in every.to_pylist():
        of_end.setdefault(row["source"], []).append((-row["weight"], row["target"]))
        of_end.setdefault(row["target"], []).append((-row["weight"], row["source"]))
    strongest = {tuple(sorted((n, other))) for n, ends in of_end.items() for _, other in sorted(ends)[:3]}
    nodes, few = build_graph(mentions(crowded, shuffled=1), replace(ALL, max_edges=3))
    assert {(row["source"], row["target"]) for row in few.to_pylist()} == strongest
    assert few.num_rows < every.num_rows / 2
    assert sum(nodes["degree"].to_pylist()) == 2 * few.num_rows


def test_edges_below_the_percentile_and_crowded_phrases_go() -> None:
    _, every = build_graph(mentions(CHUNKS), ALL)
    _, half = build_graph(mentions(CHUNKS), replace(ALL, edge_percentile=50))
    least = sorted(every["weight"].to_pylist())[len(every) // 2]
    assert {row["weight"] for row in half.to_pylist()} == {w for w in every["weight"].to_pylist() if w >= least}
    star = {f"p{n}": f"h{chr(97 + n)}" for n in range(7)}
    nodes, _ = build_graph(mentions(star), replace(ALL, max_degree_std=1))
    assert "h" not in nodes["phrase"].to_pylist()


def test_the_profile_of_graphrag_drops_the_hub_first_and_rare_phrases_after_weighing() -> None:
    nodes, edges = build_graph(mentions(CHUNKS), COMPAT)
    assert "a" not in nodes["phrase"].to_pylist()  # most neighbours, first of two by name
    assert "e" not in nodes["phrase"].to_pylist()
    assert {row["source"] for row in edges.to_pylist()} <= {"b", "c", "d"}
    assert graph_rules(GraphSettings(profile="graphrag_compat")) == COMPAT


def test_edges_may_weigh_what_their_phrases_share() -> None:
    _, edges = build_graph(mentions(CHUNKS), replace(ALL, counted=True))
    assert edges["weight"].to_pylist() == edges["cooccurrences"].to_pylist() != []
    assert graph_rules(GraphSettings(edge_weight="count")).counted


def test_nothing_gives_an_empty_graph() -> None:
    nodes, edges = build_graph(TABLES["phrase_mentions"].schema.empty_table(), graph_rules(GraphSettings()))
    assert nodes.num_rows == edges.num_rows == 0


def test_a_share_of_the_chunks_is_the_most_central() -> None:
    chunks = pa.table({"chunk_id": ["a", "b", "c", "d"]})
    said = pa.table({"chunk_id": ["a", "b", "b", "c"], "phrase": ["x", "x", "y", "y"]})
    nodes = pa.table({"phrase": ["x", "y"], "degree": [5, 1]})
    assert central_chunks(chunks, said, nodes, 0.5) == {"a", "b"}
    assert central_chunks(chunks, said, nodes, 0.25) == {"b"}
    assert central_chunks(chunks, said, nodes, 1.0) == {"a", "b", "c", "d"}
