"""The number of a shard's buckets follows the number of its papers. Changing it moves rows and computes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from monjyu_assets.stages.shared.kept_matching import KEYS, has_keys, make_keys
from monjyu_assets.work.closed_set import RESTS_ON, by_shard, input_versions, is_current, primary
from monjyu_core.storage.ids import MOST_BUCKETS, bucket_of, buckets_of
from monjyu_core.storage.parts import Part, PartStore
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, TABLES

PAPERS = 64
"""Papers that a bucket is made for. One changed paper writes its bucket again."""
MOST, LEAST = 1.5, 0.25
"""Papers of a bucket, in parts of `PAPERS`, between which the number stays: it does not go back and forth."""


def wanted_buckets(papers: int, now: int) -> int:
    """How many buckets a shard of so many papers should have, given how many it has."""
    filling = papers / now / PAPERS
    if LEAST <= filling <= MOST or (filling < LEAST and now == 1):
        return now
    return min(MOST_BUCKETS, 1 << max(0, -(-papers // PAPERS) - 1).bit_length())


def rebucket(parts: PartStore, counts: Mapping[str, int]) -> None:
    """Give these shards as many buckets as counted. What was current stays so, in each level.

    A shard changes by one HEAD, the last that is written; where a kill comes before, it has what it had.
    """
    counts = {shard: count for shard, count in counts.items() if count != parts.bucket_count(shard)}
    if not counts:
        return
    whole = [asset for asset in RESTS_ON if not by_shard(asset) and is_current(parts, asset, COLLECTION_SHARD)]
    for shard, count in counts.items():
        _divide(parts, shard, count)
    for asset in whole:
        parts.rest_on(asset, COLLECTION_SHARD, input_versions(parts, asset, COLLECTION_SHARD))


def _divide(parts: PartStore, shard: str, count: int) -> None:
    old, new = parts.buckets(shard), buckets_of(shard, count)
    assets = [asset for asset in RESTS_ON if by_shard(asset)]
    keys = all(has_keys(parts, bucket) for bucket in old)
    for asset in (*assets, KEYS):
        parts.forget_others(asset, shard)
    for asset in assets:
        heads = [part for bucket in old if (part := parts.head(primary(asset), bucket))]
        if len(heads) == len(old):
            _divide_asset(parts, asset, heads, new)
    if keys:  # no asset would miss them, since none is made anew
        make_keys(parts, new)
    parts.set_buckets(shard, count)
    for asset in (*assets, KEYS):
        parts.forget_others(asset, shard)


def _divide_asset(parts: PartStore, asset: str, heads: list[Part], new: tuple[str, ...]) -> None:
    """A new bucket is current where all that it is made of was, and has their recipe where it was one."""
    current = all(is_current(parts, asset, part.shard) for part in heads)
    recipes = {part.code_version for part in heads}
    recipe = recipes.pop() if len(recipes) == 1 else ""
    tables = {name: _rows(parts, name, heads) for name in ASSET_TABLES[asset]}
    keys = {key: value for part in heads for key, value in part.keys.items()}
    home = _homes(parts, keys, heads, len(new))
    divided = {name: _by_bucket(rows, len(new)) for name, rows in tables.items()}
    for bucket in new:
        parts.write(
            asset,
            bucket,
            {name: divided[name].get(bucket, TABLES[name].schema.empty_table()) for name in tables},
            inputs=input_versions(parts, asset, bucket) if current else {},
            keys={key: value for key, value in keys.items() if home[key] == bucket},
            code_version=recipe,
        )


def _rows(parts: PartStore, table: str, heads: Iterable[Part]) -> pa.Table:
    found = [part for head in heads if (part := parts.head(table, head.shard))]
    return pa.concat_tables([TABLES[table].schema.empty_table(), *(part.read() for part in found)])


def _homes(parts: PartStore, keys: Iterable[str], heads: Iterable[Part], count: int) -> dict[str, str]:
    """The new bucket of each reuse key: a paper's id, or a chunk's."""
    chunks = _rows(parts, "chunks", heads).select(["chunk_id", "paper_id"])
    paper_of = dict(zip(chunks["chunk_id"].to_pylist(), chunks["paper_id"].to_pylist(), strict=True))
    return {key: bucket_of(paper_of.get(key, key), count) for key in keys}


def _by_bucket(rows: pa.Table, count: int) -> dict[str, pa.Table]:
    """The rows of each bucket that has some."""
    encoded = rows["paper_id"].combine_chunks().dictionary_encode()
    names = [bucket_of(paper_id, count) for paper_id in encoded.dictionary.to_pylist()]
    places: dict[str, list[int]] = {}
    for row, code in enumerate(encoded.indices.to_pylist()):
        places.setdefault(names[code], []).append(row)
    return {bucket: rows.take(pa.array(taken, pa.int64())) for bucket, taken in places.items()}
