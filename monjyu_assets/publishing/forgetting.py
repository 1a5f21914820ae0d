"""Deleted text: which papers it was in, and how it leaves levels that are not rebuilt.

Parts of those levels are not published, but they stay in the data folder with what they say about deleted or changed
papers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from monjyu_assets.work.closed_set import RESTS_ON, asset_version, by_shard, level_of, primary
from monjyu_assets.work.work import Work
from monjyu_core.storage.manifest import Manifest
from monjyu_core.storage.parts import Part, PartStore, read_all
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, TABLES

REPORTS = "community_reports"
Tables = dict[str, pa.Table]


def forget_changed(work: Work, before: Manifest, parts: Sequence[Part]) -> None:
    """Remove what levels above those of `parts` say about papers that have gone or changed since the snapshot
    `before`. Only buckets that differ are read."""
    entries = {(entry.shard, entry.version) for entry in before.parts if entry.table == "manifest"}
    now = {(part.shard, part.version): part for part in parts if part.table == "manifest"}
    there = [key for key in entries - now.keys() if work.parts.path("manifest", *key).is_file()]
    old = _contents(work.parts.open("manifest", *key) for key in there)
    new = _contents(part for key, part in now.items() if key not in entries)
    changed = {paper_id for paper_id, _ in old - new}
    if changed:
        level = max(TABLES[part.table].level for part in parts)
        forget(work.parts, {paper_id for paper_id, _ in _contents(now.values())} - changed, level)


def _contents(parts: Iterable[Part]) -> set[tuple[str, str]]:
    """Papers with their content hashes."""
    rows = read_all("manifest", parts, ["paper_id", "sha256"])
    return set(zip(rows["paper_id"].to_pylist(), rows["sha256"].to_pylist(), strict=True))


def forget(parts: PartStore, papers: Collection[str], above: int) -> None:
    """Keep, in outdated parts of levels above `above`, only what they say about these papers.

    Rows of single papers stay, and so do reports that rest on these papers alone: models may have been paid for them.
    Other tables of the whole collection are emptied, since rebuilding them costs nothing. No part written here names
    its inputs, so each lags until its level is built, whatever comes back meanwhile.
    """
    kept = pa.array(sorted(papers), pa.string())
    for asset in RESTS_ON:
        if level_of(asset) <= above:
            continue
        for shard in parts.all_buckets() if by_shard(asset) else (COLLECTION_SHARD,):
            part = parts.head(primary(asset), shard)
            if part is None or not _rests_on_older(parts, asset, part):
                continue
            before = {name: head.read() for name in ASSET_TABLES[asset] if (head := parts.head(name, shard))}
            after, gone = _of_papers(before, kept) if by_shard(asset) else _of_collection(asset, before, kept)
            if any(before[name].num_rows != after[name].num_rows for name in before):
                keys = {key: value for key, value in part.keys.items() if key not in gone}
                parts.write(asset, shard, after, inputs={}, keys=keys, code_version="")


def _rests_on_older(parts: PartStore, asset: str, part: Part) -> bool:
    """Whether the part is made from older versions. For a shard's papers a newer noun graph does not count: it chooses
    among them, but removes no text."""
    upstream = [name for name in RESTS_ON[asset] if by_shard(name) or not by_shard(asset)]
    return any(part.inputs.get(name) != asset_version(parts, name, part.shard) for name in upstream)


def _of_papers(tables: Tables, kept: pa.Array) -> tuple[Tables, set[str]]:
    """The rows of these papers; with the papers and chunks of the others, whose results are no longer whole."""
    after, gone = {}, set[str]()
    for name, rows in tables.items():
        inside = pc.is_in(rows["paper_id"], kept)
        after[name] = rows.filter(inside)
        for column in {"paper_id", "chunk_id"}.intersection(rows.column_names):
            gone |= set(rows.filter(pc.invert(inside))[column].to_pylist())
    return after, gone


def _of_collection(asset: str, tables: Tables, kept: pa.Array) -> tuple[Tables, set[str]]:
    if asset != REPORTS:
        return {name: rows.slice(0, 0) for name, rows in tables.items()}, set()
    papers = set(kept.to_pylist())
    reports = tables[REPORTS].select(["community_id", "paper_ids"]).to_pylist()
    stay = [row["community_id"] for row in reports if papers.issuperset(row["paper_ids"])]
    ids = pa.array(stay, pa.string())
    after = {name: rows.filter(pc.is_in(rows["community_id"], ids)) for name, rows in tables.items()}
    return after, {row["community_id"] for row in reports} - set(stay)
