"""Gives each work outside the collection one id, so that references to it from different papers count as one work."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from monjyu_assets.matching.match_keys import UnionFind
from monjyu_core.storage.schemas import TABLES, empty

# Titles of works outside the collection are compared if they have the same year and first name, and were not compared
# in the previous run.
Numbers = NDArray[Any]
SAME_WORK = 92.0
"""The minimum similarity (0-100) of the titles of two entries with the same year and first word."""
LARGEST_BLOCK = 400
"""The maximum number of entries of one year and name that are compared in pairs; of more, only equal titles count."""
SHORT_TITLE = 20
"""In characters. A shorter title identifies nothing."""


@dataclass(frozen=True)
class Entries:
    """References as columns: integer codes of the fields that can be equal (-1 if missing), and the codes' values.
    A block is the references with the same year and first word. `sizes` counts the entries with a title in each block.
    """

    doi: Numbers
    arxiv_id: Numbers
    title: Numbers
    block: Numbers
    titles: pa.Array
    names: pa.Array
    sizes: Numbers
    block_keys: Numbers


def coded(rows: pa.Table) -> Entries:
    """Encode the columns doi, arxiv_id, title_key, year and name of `rows` as integers."""
    long = pc.if_else(pc.greater_equal(pc.utf8_length(rows["title_key"]), SHORT_TITLE), rows["title_key"], None)
    title, titles = _codes(long)
    name, names = _codes(pc.if_else(pc.equal(rows["name"], ""), None, rows["name"]))
    year = rows["year"].fill_null(0).to_numpy().astype(np.int64)
    keys = np.where((name >= 0) & (year != 0), block_key(name, year), -1)
    block_keys, block = np.unique(keys, return_inverse=True)
    if len(block_keys) and block_keys[0] == -1:
        block_keys, block = block_keys[1:], block - 1
    sizes = np.bincount(block[(block >= 0) & (title >= 0)], minlength=len(block_keys))
    return Entries(_codes(rows["doi"])[0], _codes(rows["arxiv_id"])[0], title, block, titles, names, sizes, block_keys)


def block_key(name: Numbers, year: Numbers) -> Numbers:
    return (name.astype(np.int64) << 32) | (year.astype(np.int64) & 0xFFFFFFFF)


def _codes(values: pa.ChunkedArray) -> tuple[Numbers, pa.Array]:
    encoded = values.combine_chunks().dictionary_encode()
    return encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary


@dataclass(frozen=True)
class Alike:
    """Pairs of nearly equal titles, as codes, with the block of each pair. `one` is the title that comes first in the
    order of the texts."""

    block: Numbers
    one: Numbers
    other: Numbers


def alike(entries: Entries, fresh: Numbers, before: pa.Table) -> Alike:
    """The pairs of nearly equal titles in blocks that are not too large.

    `before` has the rows of the table `alike_titles` from the previous run. `fresh` marks new and changed entries.
    """
    there = (entries.block >= 0) & (entries.title >= 0)
    places, inverse = np.unique((entries.block[there] << 32) | entries.title[there], return_inverse=True)
    compared = np.zeros(len(places), bool)
    compared[inverse[~fresh[there]]] = True
    known, crowded = _known(entries, before)
    blocks, titles = places >> 32, places & 0xFFFFFFFF
    was_small = np.ones(len(entries.sizes), bool)
    was_small[crowded] = False
    compared &= was_small[blocks]
    small = entries.sizes <= LARGEST_BLOCK
    stays = small[known.block] & np.isin((known.block << 32) | known.one, places)
    stays &= np.isin((known.block << 32) | known.other, places)
    pairs = [np.stack([known.block, known.one, known.other])[:, stays]]
    starts = np.flatnonzero(np.diff(blocks, prepend=-1))
    ends = np.append(starts, len(blocks))[1:]
    some_fresh = np.zeros(len(entries.sizes), bool)
    some_fresh[blocks[~compared]] = True
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        block = blocks[start]
        if end - start > 1 and small[block] and some_fresh[block]:
            pairs.append(_compared(block, titles[start:end], ~compared[start:end], entries.titles))
    return Alike(*np.unique(np.concatenate(pairs, axis=1), axis=1))


def _compared(block: int, codes: Numbers, fresh: Numbers, titles: pa.Array) -> Numbers:
    """The pairs (block, one, other) of nearly equal titles in a block, at least one of which is fresh."""
    texts = titles.take(pa.array(codes)).to_pylist()
    asked = np.flatnonzero(fresh)
    scores = process.cdist(
        [texts[n] for n in asked], texts, scorer=fuzz.ratio, score_cutoff=SAME_WORK, dtype=np.float32
    )
    found = [
        sorted((int(asked[row]), int(column)), key=texts.__getitem__)
        for row, column in np.argwhere(scores > 0).tolist()
        if asked[row] != column
    ]
    pairs = codes[np.array(found, np.int64).reshape(-1, 2)]
    return np.stack([np.full(len(pairs), block), pairs[:, 0], pairs[:, 1]])


def _known(entries: Entries, before: pa.Table) -> tuple[Alike, Numbers]:
    """The pairs of the previous run whose block and titles still exist, and the blocks that were too large then."""
    name = pc.index_in(before["name"], entries.names).fill_null(-1).to_numpy()
    keys = np.where(name >= 0, block_key(name, before["year"].to_numpy()), -1)
    block, there = np.searchsorted(entries.block_keys, keys), np.isin(keys, entries.block_keys)
    one, other = (pc.index_in(before[side], entries.titles).fill_null(-1).to_numpy() for side in ("one", "other"))
    crowded = pc.equal(before["one"], "").to_numpy()
    pairs = there & ~crowded & (one >= 0) & (other >= 0)
    return Alike(block[pairs], one[pairs].astype(np.int64), other[pairs].astype(np.int64)), block[there & crowded]


def alike_rows(entries: Entries, pairs: Alike) -> pa.Table:
    """The rows of `alike_titles`: the pairs, and one row without titles for each block that is too large."""
    crowded = np.flatnonzero(entries.sizes > LARGEST_BLOCK)
    keys = entries.block_keys[np.concatenate([pairs.block, crowded])]
    nothing = pa.array([""] * len(crowded), pa.string())
    columns = {
        "year": pa.array(keys & 0xFFFFFFFF, pa.int64()).cast(pa.int32(), safe=False),
        "name": entries.names.take(pa.array(keys >> 32)),
        "one": pa.concat_arrays([entries.titles.take(pa.array(pairs.one)), nothing]),
        "other": pa.concat_arrays([entries.titles.take(pa.array(pairs.other)), nothing]),
    }
    return pa.table(columns, schema=TABLES["alike_titles"].schema)


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
"""Computes ids as `monjyu_core.storage.ids.digest` does, from the smallest DOI, arXiv id or title of a work. An entry
without any of them is a separate work."""


@dataclass(frozen=True)
class Works:
    """The rows of `unresolved_references` and of `alike_titles`."""

    unresolved: pa.Table
    alike: pa.Table


def find_works(connection: duckdb.DuckDBPyConnection, before: pa.Table | None = None) -> Works:
    """The references that `reference_matching.resolve` did not resolve, with the ids of their works.

    Entries are the same work if they have the same DOI or arXiv id, equal titles of 20 or more characters, or nearly
    equal ones with the same year and first name; but never if their DOIs differ. `before` has the rows of
    `alike_titles` from the previous run, whose titles are not compared again; the result does not depend on it.
    """
    rows = connection.sql(_OPEN).to_arrow_table()
    entries = coded(rows)
    fresh = rows["fresh"].to_numpy()
    pairs = alike(entries, fresh, empty("alike_titles") if before is None else before)
    unresolved = rows.append_column("work", pa.array(_works(entries, pairs)))
    connection.register("unresolved", unresolved)
    return Works(connection.sql(_IDS).to_arrow_table(), alike_rows(entries, pairs))


def _works(entries: Entries, pairs: Alike) -> Numbers:
    """The smallest entry of each entry's work. All connected entries are one work, unless they have two DOIs; then the
    order of the entries decides."""
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
    """The smallest of the entries that are connected with each entry."""
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
    """The works of the entries `numbers`, as indices of first entries. Different DOIs are not joined."""
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
    """The pairs of equal titles in a block; in a large block, each entry is paired with the first of its title."""
    if len(block) > LARGEST_BLOCK:
        first: dict[int, int] = {}
        return [(first.setdefault(titles[number], number), number) for number in block]
    return [
        (one, other) for place, one in enumerate(block) for other in block[place + 1 :] if titles[one] == titles[other]
    ]


def _alike(
    block: list[int], blocks: list[int], titles: list[int], sizes: Numbers, near: set[tuple[int, int, int]]
) -> list[tuple[int, int]]:
    """The pairs of equal or nearly equal titles in a block of one year and name."""
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
    """Join the pairs of each block, unless that would join two DOIs."""
    for pairs in blocks:
        for one, other in pairs:
            a = dois[one] if dois[groups.find(one)] < 0 else dois[groups.find(one)]
            b = dois[other] if dois[groups.find(other)] < 0 else dois[groups.find(other)]
            if a < 0 or b < 0 or a == b:
                groups.join(one, other)
