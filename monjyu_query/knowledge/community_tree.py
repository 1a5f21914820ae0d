"""The tree of communities over the rows of a corpus, made from the tables of level 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Community:
    """`rows` are the chunks that have phrases of it; `children` index the tree's communities. `id` is None for a group
    of chunks that belong to none."""

    id: str | None
    level: int
    rows: Rows
    children: tuple[int, ...] = ()


@dataclass(frozen=True)
class CommunityTree:
    """`loose` are the rows in no community: they are searched in groups of their own. Each row can be reached.
    `homes`: of rows the community of the top that most of their phrases belong to, as a place among `communities`."""

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
    """From (id, level, parent), the rows of each id and the id of the home of each row; `count` rows there are.

    A community whose chunks are not all in its children gets the rest as one more child, so that no chunk is lost on
    the way down.
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
    """Of a collection without communities."""
    return CommunityTree((), (), np.arange(count))


def _joined(parts: Sequence[Rows]) -> Rows:
    return np.concatenate(parts) if parts else np.zeros(0, np.intp)
