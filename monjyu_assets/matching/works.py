"""One id for each work outside the collection, so that references to it in different papers count as the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import duckdb
import numpy as np
from rapidfuzz import fuzz, process

from monjyu_assets.matching.union_find import UnionFind
from monjyu_core.storage.ids import digest

SAME_WORK = 92.0
"""Least similarity (0-100) of two entries' titles of one year and first word of the authors."""
LARGEST_BLOCK = 400
"""Entries of one year and name that are compared pair by pair; in more, only equal titles count."""

Entry = tuple[str, int]
"""paper_id and ord of a reference."""

_OPEN = """
SELECT r.paper_id, r.ord, r.doi, r.arxiv_id, r.title_key, r.year, words(r.raw_key)[1]
FROM reference_keys r ANTI JOIN resolved USING (paper_id, ord) ORDER BY r.paper_id, r.ord
"""


def work_ids(connection: duckdb.DuckDBPyConnection) -> dict[Entry, str]:
    """Unresolved references (after `references.resolve`) to the ids of the works they name, made from content.

    Entries are one work by DOI, arXiv id, equal titles of 20 or more characters, or nearly equal ones of the same year
    and first name; never where their DOIs differ.
    """
    rows = connection.execute(_OPEN).fetchall()
    entries: list[Entry] = [(row[0], row[1]) for row in rows]
    groups: UnionFind[int] = UnionFind()
    dois = [row[2] for row in rows]
    for column in (2, 3):
        _join_equal(groups, [row[column] for row in rows])
    title_keys = [row[4] if len(row[4]) >= 20 else None for row in rows]
    _join_titles(groups, dois, _blocks(title_keys), title_keys)
    _join_titles(groups, dois, _blocks([(row[5], row[6]) if row[5] and row[6] else None for row in rows]), title_keys)
    members: dict[int, list[int]] = defaultdict(list)
    for number in range(len(rows)):
        members[groups.find(number)].append(number)
    return {
        entries[number]: _work_id([rows[n][2:5] for n in group], entries[group[0]])
        for group in members.values()
        for number in group
    }


def _join_equal(groups: UnionFind[int], values: list[str | None]) -> None:
    first: dict[str, int] = {}
    for number, value in enumerate(values):
        if value:
            groups.join(first.setdefault(value, number), number)


def _blocks(keys: Iterable[object]) -> list[list[int]]:
    blocks: dict[object, list[int]] = defaultdict(list)
    for number, key in enumerate(keys):
        if key is not None:
            blocks[key].append(number)
    return [block for block in blocks.values() if len(block) > 1]


def _join_titles(
    groups: UnionFind[int], dois: list[str | None], blocks: list[list[int]], titles: list[str | None]
) -> None:
    """Join what is alike in each block, unless that brought two DOIs together."""
    for block in blocks:
        known = [number for number in block if titles[number]]
        if len(known) < 2 or len({groups.find(number) for number in known}) == 1:
            continue
        for one, other in _similar(known, [titles[number] or "" for number in known]):
            a, b = dois[groups.find(one)] or dois[one], dois[groups.find(other)] or dois[other]
            if not (a and b and a != b):
                groups.join(one, other)


def _similar(numbers: list[int], titles: list[str]) -> list[tuple[int, int]]:
    if len(numbers) > LARGEST_BLOCK:
        first: dict[str, int] = {}
        return [(first.setdefault(title, number), number) for title, number in zip(titles, numbers, strict=True)]
    scores = process.cdist(titles, titles, scorer=fuzz.ratio, score_cutoff=SAME_WORK, dtype=np.float32)
    ones, others = np.nonzero(np.triu(scores, 1))
    return [(numbers[i], numbers[j]) for i, j in zip(ones.tolist(), others.tolist(), strict=True)]


def _work_id(group: list[tuple[str | None, str | None, str]], alone: Entry) -> str:
    """From the smallest DOI, arXiv id or title of the group; an entry with none of them is a work of its own."""
    for position in range(3):
        values = sorted(str(row[position]) for row in group if row[position])
        if values:
            return digest(position, values[0])
    return digest("entry", *alone)
