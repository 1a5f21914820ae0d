"""One id for each work outside the collection, so that references to it in different papers count as the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa

from monjyu_assets.matching.alike_titles import LARGEST_BLOCK, Alike, Entries, Numbers, alike, alike_rows, coded
from monjyu_assets.matching.union_find import UnionFind
from monjyu_core.storage.schemas import empty

_OPEN = """
SELECT r.paper_id, r.ord, r.ref_id, r.doi, r.arxiv_id, r.title_key, r.year, r.name,
       c.paper_id IS NOT NULL OR m.paper_id IS NOT NULL AS fresh
FROM reference_keys r ANTI JOIN resolved USING (paper_id, ord)
LEFT JOIN (FROM changed_papers WHERE cites) c ON c.paper_id = r.paper_id
LEFT JOIN (SELECT DISTINCT paper_id, ord FROM matches_before) m ON m.paper_id = r.paper_id AND m.ord = r.ord
ORDER BY r.paper_id, r.ord
"""
_IDS = """
WITH works AS (
    SELECT work, min(doi) AS doi, min(arxiv_id) AS arxiv_id, min(nullif(title_key, '')) AS title
    FROM unresolved GROUP BY work
)
SELECT paper_id, ord, ref_id, sha256(CASE
           WHEN w.doi IS NOT NULL THEN '0' || chr(0) || w.doi
           WHEN w.arxiv_id IS NOT NULL THEN '1' || chr(0) || w.arxiv_id
           WHEN w.title IS NOT NULL THEN '2' || chr(0) || w.title
           ELSE 'entry' || chr(0) || paper_id || chr(0) || ord END || chr(0))[:16] AS work_id
FROM unresolved JOIN works w USING (work) ORDER BY paper_id, ord
"""
"""`storage.ids.digest` of the smallest DOI, arXiv id or title of a work; an entry with none is a work of its own."""


@dataclass(frozen=True)
class Works:
    """Rows of `unresolved_references` and of `alike_titles`."""

    unresolved: pa.Table
    alike: pa.Table


def find_works(connection: duckdb.DuckDBPyConnection, before: pa.Table | None = None) -> Works:
    """Unresolved references (after `reference_matching.resolve`) with ids of the works they name, made from content.

    Entries are one work by DOI, arXiv id, equal titles of 20 or more characters, or nearly equal ones of the same year
    and first name; never where their DOIs differ. `before` has the rows of `alike_titles` of when `matched_papers` was
    made: titles that were compared then are not again, and the result is the same without.
    """
    rows = connection.sql(_OPEN).to_arrow_table()
    entries = coded(rows)
    fresh = rows["fresh"].to_numpy()
    pairs = alike(entries, fresh, empty("alike_titles") if before is None else before)
    unresolved = rows.append_column("work", pa.array(_works(entries, pairs)))
    connection.register("unresolved", unresolved)
    return Works(connection.sql(_IDS).to_arrow_table(), alike_rows(entries, pairs))


def _works(entries: Entries, pairs: Alike) -> Numbers:
    """The smallest entry of each one's work. All that is connected is one work, unless it has two DOIs: there the order
    of the entries decides."""
    works = _connected(entries, pairs)
    known = entries.doi >= 0
    dois = np.unique((works[known] << 32) | entries.doi[known]) >> 32
    several = dois[:-1][dois[:-1] == dois[1:]]
    connected = np.zeros(len(works), bool)
    connected[several] = True
    apart = np.flatnonzero(connected[works])
    if len(apart):
        works[apart] = apart[_apart(entries, pairs, apart)]
    return works


def _connected(entries: Entries, pairs: Alike) -> Numbers:
    """The smallest of the entries that each one is connected with."""
    titles: UnionFind[int] = UnionFind()
    for one, other in zip(pairs.one.tolist(), pairs.other.tolist(), strict=True):
        titles.join(one, other)
    like = np.arange(len(entries.titles))
    for title in {*pairs.one.tolist(), *pairs.other.tolist()}:
        like[title] = titles.find(title)
    title = np.append(like, -1)[entries.title]
    codes = [entries.doi, entries.arxiv_id, title]
    smallest = np.arange(len(entries.doi))
    while True:
        before = smallest.copy()
        for code in codes:
            known = code >= 0
            least = np.full(int(code.max(initial=-1)) + 1, len(smallest))
            np.minimum.at(least, code[known], smallest[known])
            smallest[known] = least[code[known]]
        if np.array_equal(before, smallest):
            return smallest


def _apart(entries: Entries, pairs: Alike, numbers: Numbers) -> list[int]:
    """The works among these entries, by the place of the first entry of each. What has a DOI joins no other DOI."""
    groups: UnionFind[int] = UnionFind()
    dois, arxiv_ids, titles, blocks = (
        column[numbers].tolist() for column in (entries.doi, entries.arxiv_id, entries.title, entries.block)
    )
    for values in (dois, arxiv_ids):
        seen: dict[int, int] = {}
        for number, value in enumerate(values):
            if value >= 0:
                groups.join(seen.setdefault(value, number), number)
    _join_titles(groups, dois, [_equal(block, titles) for block in _blocks(titles)])
    first = np.full(len(entries.sizes), len(entries.block))
    np.minimum.at(first, entries.block[entries.block >= 0], np.flatnonzero(entries.block >= 0))
    near = set(zip(pairs.block.tolist(), pairs.one.tolist(), pairs.other.tolist(), strict=True))
    in_order = sorted(_blocks(blocks), key=lambda block: int(first[blocks[block[0]]]))
    _join_titles(groups, dois, [_alike(block, blocks, titles, entries.sizes, near) for block in in_order])
    places: dict[int, int] = {}
    return [places.setdefault(groups.find(number), number) for number in range(len(numbers))]


def _blocks(codes: Iterable[int]) -> list[list[int]]:
    blocks: dict[int, list[int]] = defaultdict(list)
    for number, code in enumerate(codes):
        if code >= 0:
            blocks[code].append(number)
    return [block for block in blocks.values() if len(block) > 1]


def _equal(block: list[int], titles: list[int]) -> list[tuple[int, int]]:
    """Pairs of equal titles; in a large block each with the first."""
    if len(block) > LARGEST_BLOCK:
        first: dict[int, int] = {}
        return [(first.setdefault(titles[number], number), number) for number in block]
    return [
        (one, other) for place, one in enumerate(block) for other in block[place + 1 :] if titles[one] == titles[other]
    ]


def _alike(
    block: list[int], blocks: list[int], titles: list[int], sizes: Numbers, near: set[tuple[int, int, int]]
) -> list[tuple[int, int]]:
    """Pairs of equal and of nearly equal titles in a block of one year and name."""
    code, known = blocks[block[0]], [number for number in block if titles[number] >= 0]
    if sizes[code] > LARGEST_BLOCK:
        first: dict[int, int] = {}
        return [(first.setdefault(titles[number], number), number) for number in known]
    return [
        (one, other)
        for place, one in enumerate(known)
        for other in known[place + 1 :]
        if titles[one] == titles[other]
        or (code, titles[one], titles[other]) in near
        or (code, titles[other], titles[one]) in near
    ]


def _join_titles(groups: UnionFind[int], dois: list[int], blocks: Iterable[list[tuple[int, int]]]) -> None:
    """Join these pairs, unless that brought two DOIs together."""
    for pairs in blocks:
        for one, other in pairs:
            a = dois[one] if dois[groups.find(one)] < 0 else dois[groups.find(one)]
            b = dois[other] if dois[groups.find(other)] < 0 else dois[groups.find(other)]
            if a < 0 or b < 0 or a == b:
                groups.join(one, other)
