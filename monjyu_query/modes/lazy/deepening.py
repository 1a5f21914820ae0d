"""One subquery's walk through the communities: best first, breadth first, deeper if a community was relevant.

Microsoft Research, "LazyGraphRAG: Setting a new standard for quality and cost" (November 2024), query step "match".
When the published walk would end, this one continues with the best remaining chunks, so that the budget is used.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from monjyu_query.knowledge.concept_graph import Community, CommunityTree, Rows
from monjyu_query.ranking.fusion import Scores


@dataclass(frozen=True)
class Visit:
    """The untested top chunks of one community that are tested now."""

    community: Community
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Walk:
    """The parameters of a walk. It opens with the `opening` chunks most similar to the subquery in any community, then
    tests `top_k` chunks per visit. After `patience` consecutive communities without a relevant chunk it descends, at
    most `max_depth` times. Finally it tests all remaining chunks, best first."""

    opening: int = 0
    top_k: int = 3
    patience: int = 5
    max_depth: int = 10


class IterativeDeepener:
    """Chooses the chunks to test next. After each visit it must learn which chunks were relevant."""

    def __init__(self, tree: CommunityTree, scores: Scores, walk: Walk) -> None:
        """`scores` (n,) are the chunks' similarities to the subquery, `-inf` for those that do not pass filters."""
        self._tree = tree
        self._scores = scores
        self._walk = walk
        self._sorted: dict[int, Rows] = {}
        self.depth = 0
        self._all = Community(None, 0, np.flatnonzero(scores > -np.inf))
        self._passed = 0
        self._frontier = self._opened([*(tree.communities[root] for root in tree.roots), *self._loose()])
        self._place = 0
        self._barren = 0
        self._fruitful: list[Community] = []

    def next_visit(self, taken: Collection[int], most: int) -> Visit | None:
        """The next community with untested chunks, at most `most` of them; None if every chunk is taken."""
        while True:
            while self._place < len(self._frontier) and self._barren < self._walk.patience:
                community = self._frontier[self._place]
                self._place += 1
                rows = self._untested(community, taken, min(most, self._walk.top_k))
                if rows:
                    return Visit(community, rows)
            if not self._deepen(taken):
                return self._best_left(taken, most)

    def learn(self, visit: Visit, relevant: Collection[int]) -> None:
        """Learn which rows of a visit were relevant. A group of chunks that is not a community does not count as
        barren; its relevant chunks lead to their communities."""
        counts = visit.community.id is not None
        self._barren = 0 if relevant else self._barren + counts
        homes = [self._tree.home_of(row) for row in relevant] if not counts else [visit.community] * bool(relevant)
        for community in homes:
            if community is not None and community not in self._fruitful:
                self._fruitful.append(community)

    def _best_left(self, taken: Collection[int], most: int) -> Visit | None:
        """The best remaining chunks, wherever they are."""
        rows = self._best(self._all)
        while self._passed < len(rows) and int(rows[self._passed]) in taken:
            self._passed += 1
        found = self._first(rows[self._passed :], taken, min(most, self._walk.top_k))
        return Visit(Community(None, 0, np.array(found, np.intp)), found) if found else None

    def _deepen(self, taken: Collection[int]) -> bool:
        """Descend into the communities that had a relevant chunk; a leaf is visited again while it has more."""
        below: list[Community] = []
        for community in self._fruitful:
            down = community.children if self.depth < self._walk.max_depth else ()
            found = [self._tree.communities[child] for child in down] or [community]
            below += [inner for inner in found if self._untested(inner, taken, 1) and inner not in below]
        self._frontier = self._ranked(below)
        self._place, self._barren, self._fruitful = 0, 0, []
        self.depth += bool(below)
        return bool(below)

    def _loose(self) -> list[Community]:
        """The chunks in no community, in groups by similarity."""
        rows = self._ordered(self._tree.loose)
        size = self._walk.top_k
        return [Community(None, 0, rows[start : start + size]) for start in range(0, len(rows), size)]

    def _opened(self, communities: list[Community]) -> list[Community]:
        """The communities in order, preceded by the chunks to open with."""
        first = self._best(self._all)[: self._walk.opening]
        size = self._walk.top_k
        groups = [Community(None, 0, first[start : start + size]) for start in range(0, len(first), size)]
        return [*groups, *self._ranked(communities)]

    def _ranked(self, communities: list[Community]) -> list[Community]:
        """The communities, sorted by the mean similarity of their top chunks (stable)."""
        kept = [(self._mean_similarity(community), community) for community in communities]
        return [community for similarity, community in sorted(kept, key=lambda pair: -pair[0]) if similarity > -np.inf]

    def _mean_similarity(self, community: Community) -> float:
        best = self._best(community)[: self._walk.top_k]
        return float(np.mean(self._scores[best], dtype=np.float64)) if len(best) else -np.inf

    def _untested(self, community: Community, taken: Collection[int], most: int) -> tuple[int, ...]:
        return self._first(self._best(community), taken, most)

    def _first(self, rows: Rows, taken: Collection[int], most: int) -> tuple[int, ...]:
        found: list[int] = []
        for row in map(int, rows):
            if row not in taken:
                found.append(row)
                if len(found) == most:
                    break
        return tuple(found)

    def _best(self, community: Community) -> Rows:
        if id(community) not in self._sorted:
            self._sorted[id(community)] = self._ordered(community.rows)
        return self._sorted[id(community)]

    def _ordered(self, rows: Rows) -> Rows:
        rows = rows[self._scores[rows] > -np.inf]
        return rows[np.argsort(-self._scores[rows], kind="stable")]
