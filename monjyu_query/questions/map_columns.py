"""The maps of a collection, as columns: papers and their citations, or concepts and their co-occurrences."""

from typing import Literal

import duckdb
from pydantic import BaseModel

from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.papers.labels import paper_label
from monjyu_query.questions.theme_tree import check_level

Kind = Literal["citations", "concepts"]
MOST_DRAWN = 5000
EDGES_A_NODE = 4
"""The average number of edges drawn per node."""
_HEAVIEST = 3
"""A concept's edge is drawn if it is among the `_HEAVIEST` heaviest edges of either end."""
_MOST_ALIKE = 2
"""Two papers that do not cite each other are joined if one is among the `_MOST_ALIKE` most similar ones of the
other."""
_MOST_SHARING = 20
"""A concept that more papers than this mention does not count for the similarity of two papers."""
_MOST_NAMED = 8
"""The maximum number of communities with a name on a map."""


class MapCommunity(BaseModel):
    """A community on a map. `name`: its heaviest phrases; `size`: the number of its nodes on the map."""

    id: str
    name: str
    size: int


class MapColumns(BaseModel):
    """A graph for drawing. The n-th values of `ids`, `labels`, `names`, `sizes`, `years` and `communities` are of one
    node, the largest first; those of `sources` and `targets` (places of nodes) of one edge, the heaviest first.

    Sizes count citing papers of the collection, or passages that mention a concept; `names` are short forms of the
    labels (empty if the labels are short); `years` are those of the paper, or of all papers that mention the concept;
    `communities` are indices into `named`, or -1. After `certain` edges come those of papers that do not cite each
    other but mention the same concepts. `total` counts all nodes of the graph, `unlinked` the drawn papers that neither
    cite nor are cited here.
    """

    collection: str
    snapshot_id: str
    level: int
    kind: Kind
    total: int
    unlinked: int
    ids: list[str]
    labels: list[str]
    names: list[str]
    sizes: list[int]
    years: list[list[int]]
    communities: list[int]
    named: list[MapCommunity]
    sources: list[int]
    targets: list[int]
    certain: int


_PAPERS = """CREATE TEMP TABLE drawn AS SELECT row_number() OVER (ORDER BY size DESC, id) - 1 AS place, * FROM (
SELECT p.paper_id AS id, coalesce(nullif(p.title, ''), p.paper_id) AS label, count(DISTINCT e.citing_id) AS size,
    CASE WHEN p.year IS NULL THEN [] ELSE [p.year] END AS years
FROM papers p JOIN paper_identity i USING (paper_id)
LEFT JOIN citation_edges e ON e.cited_id = p.paper_id AND e.citing_id <> p.paper_id
WHERE p.paper_id = i.canonical_id GROUP BY p.paper_id, p.title, p.year ORDER BY size DESC, id LIMIT $most)"""
_CITING = """SELECT a.place AS x, b.place AS y, 0
FROM citation_edges e JOIN drawn a ON a.id = e.citing_id JOIN drawn b ON b.id = e.cited_id
WHERE x <> y GROUP BY x, y ORDER BY max(len(e.contexts)) DESC, x, y LIMIT $most"""
# Integers: a sum of floats depends on the order in which threads add them, and so would the picture.
_ALIKE = """WITH said AS (
    SELECT DISTINCT d.place, m.phrase, n.papers FROM phrase_mentions m JOIN drawn d ON d.id = m.paper_id
    JOIN graph_nodes n ON n.phrase = m.phrase WHERE n.papers BETWEEN 2 AND $sharing),
pairs AS (SELECT a.place AS x, b.place AS y, sum((1e6 / ln(1 + a.papers))::BIGINT) AS weight
    FROM said a JOIN said b ON a.phrase = b.phrase AND a.place < b.place GROUP BY ALL HAVING count(*) > 1),
ranked AS (SELECT *, row_number() OVER (PARTITION BY x ORDER BY weight DESC, y) AS of_x,
    row_number() OVER (PARTITION BY y ORDER BY weight DESC, x) AS of_y FROM pairs)
SELECT x, y, 1 FROM ranked WHERE of_x <= $heaviest OR of_y <= $heaviest ORDER BY weight DESC, x, y LIMIT $most"""
_PAPER_COMMUNITIES = """WITH said AS (
    SELECT d.place, s.community_id, sum(s.share::DECIMAL(18, 6)) AS share FROM chunk_communities s
    JOIN chunks k USING (chunk_id) JOIN drawn d ON d.id = k.paper_id WHERE s.level = 0 GROUP BY ALL),
main AS (SELECT community_id FROM said GROUP BY ALL ORDER BY sum(share) DESC, community_id LIMIT $named)
SELECT place, max_by(community_id, (share, community_id)) FROM said SEMI JOIN main USING (community_id)
GROUP BY place"""
_AUTHORS = """SELECT d.place, list(a.name ORDER BY a.ord) FROM authors a JOIN drawn d ON d.id = a.paper_id
GROUP BY d.place"""

_CONCEPTS = """CREATE TEMP TABLE drawn AS SELECT row_number() OVER (ORDER BY size DESC, id) - 1 AS place, * FROM (
SELECT n.phrase AS id, n.surface AS label, n.df AS size, y.years FROM (
    SELECT * FROM graph_nodes ORDER BY df DESC, phrase LIMIT $most) n
LEFT JOIN (SELECT m.phrase, list_sort(list(DISTINCT p.year)) AS years
    FROM phrase_mentions m JOIN papers p USING (paper_id) WHERE p.year IS NOT NULL GROUP BY m.phrase) y
ON y.phrase = n.phrase)"""
_STANDING = """WITH inside AS (SELECT a.place AS x, b.place AS y, e.weight
    FROM graph_edges e JOIN drawn a ON a.id = e.source JOIN drawn b ON b.id = e.target),
both_ways AS (SELECT x, y, weight, x AS near, y AS far FROM inside
    UNION ALL SELECT x, y, weight, y, x FROM inside),
ranked AS (SELECT x, y, weight,
    row_number() OVER (PARTITION BY near ORDER BY weight DESC, far) AS rank FROM both_ways)
SELECT x, y, 0 FROM ranked WHERE rank <= $heaviest GROUP BY x, y
ORDER BY max(weight) DESC, x, y LIMIT $most"""
_CONCEPT_COMMUNITIES = """WITH main AS (
    SELECT community_id FROM communities WHERE level = 0 ORDER BY size DESC, community_id LIMIT $named)
SELECT d.place, community_id FROM community_members m SEMI JOIN main USING (community_id)
JOIN drawn d ON d.id = m.phrase"""
_NAMES = """SELECT community_id, array_to_string(top_phrases[:3], ', ') FROM communities WHERE level = 0"""
_OF_CONCEPT = """SELECT p.paper_id, coalesce(nullif(p.title, ''), p.paper_id), p.year, sum(m.count) AS mentions
FROM phrase_mentions m JOIN papers p USING (paper_id) JOIN paper_identity i USING (paper_id)
WHERE m.phrase = $phrase AND p.paper_id = i.canonical_id GROUP BY ALL ORDER BY mentions DESC, p.paper_id LIMIT $most"""


def map_columns(snapshot: Snapshot, kind: Kind, most: int = MOST_DRAWN) -> MapColumns:
    """The `most` largest nodes and the edges among them. Raises QueryError if the level of concepts is not built."""
    cursor = snapshot.cursor()
    with_topics = snapshot.manifest.level >= 1
    if kind == "concepts":
        check_level(snapshot, 1, "The map of concepts")
    cursor.execute(_PAPERS if kind == "citations" else _CONCEPTS, {"most": most})  # the table is this cursor's own
    rows = cursor.execute("SELECT id, label, size, coalesce(years, []) FROM drawn ORDER BY place").fetchall()
    ids, labels, sizes, years = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [], [])
    edges = _edges(cursor, kind, most, with_topics)
    of_node: dict[int, str] = {}
    if with_topics:
        belonging = _PAPER_COMMUNITIES if kind == "citations" else _CONCEPT_COMMUNITIES
        of_node = dict(cursor.execute(belonging, {"named": _MOST_NAMED}).fetchall())
    named, places = _communities(cursor, of_node)
    linked = {place for source, target, alike in edges if not alike for place in (source, target)}
    return MapColumns(
        collection=snapshot.manifest.collection,
        snapshot_id=snapshot.id,
        level=snapshot.manifest.level,
        kind=kind,
        total=_total(cursor, kind),
        unlinked=len(ids) - len(linked) if kind == "citations" else 0,
        ids=ids,
        labels=labels,
        names=_short_names(cursor, labels, years) if kind == "citations" else [],
        sizes=sizes,
        years=years,
        communities=[places.get(of_node.get(place, ""), -1) for place in range(len(ids))],
        named=named,
        sources=[edge[0] for edge in edges],
        targets=[edge[1] for edge in edges],
        certain=sum(not edge[2] for edge in edges),
    )


def papers_of_concept(snapshot: Snapshot, phrase: str, most: int) -> list[tuple[str, str, int | None, int]]:
    """(id, title, year, mentions) of the papers that mention a concept, most mentions first; empty for an unknown one.
    Raises QueryError if the level of concepts is not built."""
    check_level(snapshot, 1, "The map of concepts")
    return snapshot.cursor().execute(_OF_CONCEPT, {"phrase": phrase, "most": most}).fetchall()


def _edges(cursor: duckdb.DuckDBPyConnection, kind: Kind, most: int, with_topics: bool) -> list[tuple[int, int, int]]:
    """(source, target, 1 if the edge only means similarity, else 0) of each edge; edges of similarity are last."""
    values = {"most": EDGES_A_NODE * most}
    if kind == "concepts":
        return cursor.execute(_STANDING, values | {"heaviest": _HEAVIEST}).fetchall()
    edges = cursor.execute(_CITING, values).fetchall()
    if not with_topics:
        return edges
    cited = {frozenset(edge[:2]) for edge in edges}
    room = {"most": EDGES_A_NODE * most - len(edges), "sharing": _MOST_SHARING, "heaviest": _MOST_ALIKE}
    alike = cursor.execute(_ALIKE, room).fetchall()
    return edges + [edge for edge in alike if frozenset(edge[:2]) not in cited]


def _communities(
    cursor: duckdb.DuckDBPyConnection, of_node: dict[int, str]
) -> tuple[list[MapCommunity], dict[str, int]]:
    """The communities of the nodes, the largest first, and the index of each."""
    counts: dict[str, int] = {}
    for name in of_node.values():
        counts[name] = counts.get(name, 0) + 1
    names = dict(cursor.execute(_NAMES).fetchall()) if counts else {}
    main = sorted(counts, key=lambda name: (-counts[name], name))
    found = [MapCommunity(id=name, name=names.get(name) or name, size=counts[name]) for name in main]
    return found, {name: place for place, name in enumerate(main)}


def _total(cursor: duckdb.DuckDBPyConnection, kind: Kind) -> int:
    counted = "paper_identity WHERE paper_id = canonical_id" if kind == "citations" else "graph_nodes"
    found = cursor.execute(f"SELECT count(*) FROM {counted}").fetchone()
    return int(found[0]) if found else 0


def _short_names(cursor: duckdb.DuckDBPyConnection, labels: list[str], years: list[list[int]]) -> list[str]:
    authors: dict[int, list[str]] = dict(cursor.execute(_AUTHORS).fetchall())
    return [
        paper_label(authors.get(place, []), years[place][0] if years[place] else None, label)
        for place, label in enumerate(labels)
    ]
