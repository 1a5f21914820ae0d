"""Which titles of works outside the collection are nearly equal. Compared are those of one year and first name, and
only what was not compared before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from monjyu_core.storage.schemas import TABLES

Numbers = NDArray[Any]
SAME_WORK = 92.0
"""Least similarity (0-100) of two entries' titles of one year and first word of the authors."""
LARGEST_BLOCK = 400
"""Entries of one year and name that are compared pair by pair; in more, only equal titles count."""
SHORT_TITLE = 20
"""Characters. A shorter title says nothing."""


@dataclass(frozen=True)
class Entries:
    """References by number: codes of what can be equal among them (-1: none), and what the codes stand for.

    A block is a year with the first word of the entry. `sizes` counts the entries with a title in each block.
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
    """`rows` has doi, arxiv_id, title_key, year, name."""
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
    """Pairs of codes of nearly equal titles, one < other as text, each with its block."""

    block: Numbers
    one: Numbers
    other: Numbers


def alike(entries: Entries, fresh: Numbers, before: pa.Table) -> Alike:
    """All nearly equal titles of the blocks that are not too large.

    `before` has the rows of the table `alike_titles` that `alike_rows` made; `fresh` marks the entries that are new
    since, or whose text is.
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
    stays = small[known.block] & _among((known.block << 32) | known.one, places)
    stays &= _among((known.block << 32) | known.other, places)
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


def _among(values: Numbers, ascending: Numbers) -> Numbers:
    """Which of the values are among these."""
    places = np.searchsorted(ascending, values)
    found = places < len(ascending)
    found[found] = ascending[places[found]] == values[found]
    return found


def _compared(block: int, codes: Numbers, fresh: Numbers, titles: pa.Array) -> Numbers:
    """(block, one, other) of the nearly equal titles of which one at least is fresh."""
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
    """The pairs of before whose block and titles are still there, and the blocks that were too large then."""
    name = pc.index_in(before["name"], entries.names).fill_null(-1).to_numpy()
    keys = np.where(name >= 0, block_key(name, before["year"].to_numpy()), -1)
    block, there = np.searchsorted(entries.block_keys, keys), _among(keys, entries.block_keys)
    one, other = (pc.index_in(before[side], entries.titles).fill_null(-1).to_numpy() for side in ("one", "other"))
    crowded = pc.equal(before["one"], "").to_numpy()
    pairs = there & ~crowded & (one >= 0) & (other >= 0)
    return Alike(block[pairs], one[pairs].astype(np.int64), other[pairs].astype(np.int64)), block[there & crowded]


def alike_rows(entries: Entries, pairs: Alike) -> pa.Table:
    """The rows of `alike_titles`."""
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
