"""The concept graph and the communities of level 1, read from a snapshot's DuckDB; empty if it has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from monjyu_core.values import Values
from monjyu_query.ranking.corpus import Corpus

# The tree of communities over the rows of a corpus, built from the tables of level 1.
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Community:
    """A community of phrases. `rows` are the chunks with its phrases; `children` are indices into the tree's
    communities. `id` is None for a group of chunks without a community."""

    id: str | None
    level: int
    rows: Rows
    children: tuple[int, ...] = ()


@dataclass(frozen=True)
class CommunityTree:
    """The communities of a snapshot as a tree. `loose` are the rows in no community, which are searched in separate
    groups so that each row can be reached. `homes` has, for each row, the top-level community of most of its phrases,
    as an index into `communities`."""

    communities: tuple[Community, ...]
    roots: tuple[int, ...]
    loose: Rows
    homes: Mapping[int, int] = field(default_factory=dict)

    def home_id(self, row: int) -> str | None:
        home = self.home_of(row)
        return None if home is None else home.id

    def home_of(self, row: int) -> Community | None:
        place = self.homes.get(row)
        return None if place is None else self.communities[place]

    @property
    def empty(self) -> bool:
        return not self.roots


def build_tree(
    records: Sequence[tuple[str, int, str | None]],
    rows: Mapping[str, Rows],
    count: int,
    homes: Mapping[int, str] | None = None,
) -> CommunityTree:
    """The tree from (id, level, parent), the rows of each id and the home of each row; `count` is the number of rows.

    A community whose chunks are not all in its children gets the rest as one more child, so that no chunk is lost.
    """
    records = sorted(records, key=lambda record: (record[1], record[0]))
    places = {name: place for place, (name, _, _) in enumerate(records)}
    children: dict[int, list[int]] = {}
    roots = []
    for place, (_, _, parent) in enumerate(records):
        if parent is not None and parent in places:
            children.setdefault(places[parent], []).append(place)
        else:
            roots.append(place)
    found = {name: np.unique(rows[name]) if name in rows else np.zeros(0, np.intp) for name, _, _ in records}
    rests: list[Community] = []
    communities = []
    for place, (name, level, _) in enumerate(records):
        below = children.get(place, [])
        rest = np.setdiff1d(found[name], _joined([found[records[child][0]] for child in below])) if below else None
        if rest is not None and len(rest):
            below = [*below, len(records) + len(rests)]
            rests.append(Community(name, level + 1, rest))
        communities.append(Community(name, level, found[name], tuple(below)))
    loose = np.setdiff1d(np.arange(count), _joined([found[records[root][0]] for root in roots]))
    at_home = {row: places[name] for row, name in (homes or {}).items() if name in places}
    return CommunityTree((*communities, *rests), tuple(roots), loose, at_home)


def flat_tree(count: int) -> CommunityTree:
    """The tree of a collection without communities."""
    return CommunityTree((), (), np.arange(count))


def _joined(parts: Sequence[Rows]) -> Rows:
    return np.concatenate(parts) if parts else np.zeros(0, np.intp)


COMMUNITY_TABLES = ("communities", "chunk_communities")
GRAPH_TABLES = ("graph_nodes", "graph_edges", "phrase_mentions")
MOST_CANDIDATES = 2000

_NODES = """SELECT phrase, surface, tfidf FROM graph_nodes
WHERE len(list_filter($words::VARCHAR[], lambda word: contains(lower(surface), word) OR contains(lower(phrase), word)))
    > 0
ORDER BY df DESC, phrase LIMIT $most"""
_NEIGHBOURS = """WITH asked AS (SELECT unnest($phrases::VARCHAR[]) AS phrase), near AS (
    SELECT asked.phrase, target AS other, weight FROM graph_edges JOIN asked ON source = asked.phrase
    UNION ALL SELECT asked.phrase, source, weight FROM graph_edges JOIN asked ON target = asked.phrase)
SELECT near.phrase, other, coalesce(surface, other), weight
FROM near LEFT JOIN graph_nodes ON graph_nodes.phrase = other WHERE other <> near.phrase
QUALIFY row_number() OVER (PARTITION BY near.phrase ORDER BY weight DESC, other) <= $most
ORDER BY near.phrase, weight DESC, other"""
_MENTIONED = """SELECT place, sum(weight) FROM phrase_mentions JOIN near USING (phrase) JOIN places USING (chunk_id)
GROUP BY place"""
_PHRASES = """SELECT chunk_id, phrase, surface FROM phrase_mentions
WHERE chunk_id IN (SELECT unnest($chunks::VARCHAR[]))
ORDER BY chunk_id, phrase"""
_TITLES = """SELECT community_id, array_to_string(top_phrases[:3], ', ') FROM communities
WHERE community_id IN (SELECT unnest($names::VARCHAR[]))"""
_AMONG = """SELECT source, target, weight FROM graph_edges
WHERE source IN (SELECT unnest($phrases::VARCHAR[])) AND target IN (SELECT unnest($phrases::VARCHAR[]))
ORDER BY source, target"""
_PLACES = """SELECT place, number FROM chunk_communities JOIN places USING (chunk_id) JOIN numbers USING (community_id)
WHERE level = $level"""
"""Read one level at a time, because each chunk is in dozens of communities."""
_HOMES = """SELECT place, arg_max(community_id, (share, community_id))
FROM chunk_communities JOIN places USING (chunk_id)
WHERE level = 0 GROUP BY place"""


@dataclass(frozen=True)
class Concept:
    """A concept: its key in the noun graph, its spelling, and its weight (tf-idf; for a neighbour that of the edge)."""

    phrase: str
    surface: str
    weight: float


@dataclass(frozen=True)
class ConceptGraph:
    """Read-only look-ups with a cursor each, so that threads may share it. `present`: there is a level 1."""

    connection: duckdb.DuckDBPyConnection
    present: bool

    @classmethod
    def of(cls, cursor: duckdb.DuckDBPyConnection) -> ConceptGraph:
        return cls(cursor, has_tables(cursor, GRAPH_TABLES))

    def candidates(self, words: Sequence[str]) -> list[Concept]:
        """Up to 2000 concepts that contain one of the `words` (in lower case), the most frequent first."""
        if not self.present or not words:
            return []
        found = self._rows(_NODES, {"words": list(words), "most": MOST_CANDIDATES})
        return [Concept(phrase, surface or phrase, float(tfidf or 0)) for phrase, surface, tfidf in found]

    def neighbours(self, phrases: Sequence[str], most: int) -> dict[str, list[Concept]]:
        """The `most` concepts linked by the heaviest edges, by phrase."""
        found: dict[str, list[Concept]] = {phrase: [] for phrase in phrases}
        if self.present and phrases:
            for phrase, other, surface, weight in self._rows(_NEIGHBOURS, {"phrases": list(found), "most": most}):
                found[phrase].append(Concept(other, surface, float(weight or 0)))
        return found

    def mentioned(self, weights: Mapping[str, float], corpus: Corpus) -> dict[int, float]:
        """The positions of the chunks that contain some of the phrases, each with the sum of their `weights`."""
        if not self.present or not weights:
            return {}
        cursor = self.connection.cursor()
        cursor.register("near", pa.table({"phrase": list(weights), "weight": list(weights.values())}))
        cursor.register("places", pa.table({"chunk_id": corpus.chunk_ids.array, "place": range(len(corpus))}))
        return {place: float(weight) for place, weight in cursor.execute(_MENTIONED).fetchall()}

    def phrases(self, chunks: Sequence[str]) -> list[tuple[str, str, str]]:
        """(chunk, phrase, spelling in the chunk) for the phrases of `chunks`."""
        return self._rows(_PHRASES, {"chunks": list(chunks)}) if self.present and chunks else []

    def titles(self, communities: Sequence[str]) -> dict[str, str]:
        """The titles of `communities`: the first phrases of each."""
        found = self._rows(_TITLES, {"names": list(communities)}) if self.present and communities else []
        return {name: title or "" for name, title in found}

    def subgraph(self, phrases: Sequence[str]) -> list[tuple[str, str, float]]:
        """The edges (source, target, weight) among `phrases`."""
        if not self.present or not phrases:
            return []
        return [(s, t, float(w or 0)) for s, t, w in self._rows(_AMONG, {"phrases": list(phrases)})]

    def _rows(self, query: str, values: Values) -> list[Any]:
        return self.connection.cursor().execute(query, values).fetchall()


def has_tables(cursor: duckdb.DuckDBPyConnection, names: Sequence[str]) -> bool:
    """Whether all the tables exist and the first has a row."""
    rows = cursor.execute(
        "SELECT table_name FROM duckdb_tables() UNION SELECT view_name FROM duckdb_views()"
    ).fetchall()
    if not set(names) <= {name for (name,) in rows}:
        return False
    return bool(cursor.execute(f"SELECT 1 FROM {names[0]} LIMIT 1").fetchall())


def read_tree(cursor: duckdb.DuckDBPyConnection, corpus: Corpus) -> CommunityTree:
    """The communities over the corpus's rows; flat if the snapshot has none."""
    if not has_tables(cursor, COMMUNITY_TABLES):
        return flat_tree(len(corpus))
    records = cursor.execute("SELECT community_id, level, parent_id FROM communities").fetchall()
    cursor.register("places", pa.table({"chunk_id": corpus.chunk_ids.array, "place": range(len(corpus))}))
    rows: dict[str, NDArray[np.intp]] = {}
    for level in sorted({level for _, level, _ in records}):
        names = [name for name, of, _ in records if of == level]
        cursor.register("numbers", pa.table({"community_id": names, "number": range(len(names))}))
        found = cursor.execute(_PLACES, {"level": level}).fetchnumpy()
        rows |= dict(zip(names, _split(found["place"], found["number"], len(names)), strict=True))
    homes = dict(cursor.execute(_HOMES).fetchall())
    return build_tree(records, rows, len(corpus), homes)


def _split(places: NDArray[np.intp], numbers: NDArray[np.intp], count: int) -> list[NDArray[np.intp]]:
    """The `places` of each number from 0 to `count` - 1."""
    order = np.argsort(numbers, kind="stable")
    return np.split(places[order], np.cumsum(np.bincount(numbers, minlength=count))[:-1])
