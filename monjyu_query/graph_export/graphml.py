"""The graph as GraphML: nodes with degree, frequency and community by level, edges with weight and co-occurrences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from monjyu_core.errors import ConfigurationError
from monjyu_core.storage.folders import temporary_for
from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.citations.xml_safe import xml_text
from monjyu_query.graph_export.exported_graph import Kind, open_graph

if TYPE_CHECKING:
    import networkx

_NODES = "SELECT id, title, type, description, frequency, papers, degree FROM g_nodes ORDER BY title, id"
_MEMBERS = "SELECT id, level, number FROM g_members JOIN g_communities USING (key) ORDER BY id, level"
_EDGES = "SELECT id, source_id, target_id, description, weight, times FROM g_edges ORDER BY source_id, target_id, id"


def write_graphml(snapshot: Snapshot, path: Path, kind: Kind | None = None) -> tuple[Kind, dict[str, int]]:
    """Write the graph to a file; gives its kind and its numbers of nodes and edges. Errors as of `write_tables`."""
    if path.is_dir():
        raise ConfigurationError(f"{path} is a folder.", "Name a file with -o.")
    if not path.absolute().parent.is_dir():
        raise ConfigurationError(f"{path.parent} is not a folder.", "Make it first, or name a file elsewhere with -o.")
    import networkx

    graph, chosen = as_networkx(snapshot, kind)
    temporary = temporary_for(path)
    try:
        networkx.write_graphml(graph, temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return chosen, {"nodes": graph.number_of_nodes(), "edges": graph.number_of_edges()}


def as_networkx(snapshot: Snapshot, kind: Kind | None = None) -> tuple[networkx.Graph[Any], Kind]:
    """Undirected for phrases; for entities directed, with an edge for each relationship.

    `community_0` is a node's coarsest community, numbered as in the Parquet tables.
    """
    import networkx

    cursor, chosen = open_graph(snapshot, kind)
    graph: networkx.Graph[Any] = networkx.Graph() if chosen == "phrases" else networkx.MultiDiGraph()
    graph.graph |= {"collection": snapshot.collection.name, "snapshot": snapshot.id}
    for node, title, type_, description, frequency, papers, degree in cursor.execute(_NODES).fetchall():
        values = {"label": title, "type": type_, "description": description}
        graph.add_node(node, **_safe(values), frequency=frequency, papers=papers, degree=degree)
    for node, level, number in cursor.execute(_MEMBERS).fetchall():
        graph.nodes[node][f"community_{level}"] = number
    multi = chosen == "entities"
    for key, source, target, description, weight, times in cursor.execute(_EDGES).fetchall():
        graph.add_edge(
            source,
            target,
            **({"key": key} if multi else {"id": key}),
            **_safe({"description": description}),
            weight=float(weight),
            cooccurrences=times,
        )
    return graph, chosen


def _safe(values: dict[str, str | None]) -> dict[str, str]:
    """What has text, fit for XML."""
    return {name: xml_text(text) for name, text in values.items() if text}
