"""Builds a snapshot from a candidate: first its database and search files in parallel, then its manifest."""

import hashlib
import shutil
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from importlib.metadata import version as installed_version
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from monjyu_assets.publishing.candidate import Candidate
from monjyu_assets.publishing.database import Connect, build_database, write_lineage
from monjyu_assets.publishing.nearest_index import publish_nearest_index
from monjyu_assets.publishing.search_files import LanceTables, publish_search_files, write_with_vectors
from monjyu_assets.work.closed_set import RESTS_ON, asset_version, by_shard, level_of, primary
from monjyu_assets.work.work import Work
from monjyu_core.settings.settings import setting as setting_value
from monjyu_core.settings.settings import settings_of
from monjyu_core.storage.folders import DATABASE, LANCE, CollectionFolder, sync_folder, write_atomically
from monjyu_core.storage.heads import file_version
from monjyu_core.storage.ids import digest
from monjyu_core.storage.manifest import MANIFEST_HASH, LanceFile, Manifest, NearestEntry, PartEntry, SearchFileEntry
from monjyu_core.storage.nearest_table import MIN_RECALL
from monjyu_core.storage.parts import Part, PartStore, read_all
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, SCHEMA_VERSION, TABLES
from monjyu_core.storage.snapshot import published

# Rows about deleted or changed papers are removed from levels that are not rebuilt. Parts of these levels are not
# published, but they stay in the data folder.
REPORTS = "community_reports"
Tables = dict[str, pa.Table]


def forget_changed(work: Work, before: Manifest, parts: Sequence[Part]) -> None:
    """Remove from levels above those of `parts` the rows about papers that were removed or changed since the snapshot
    `before`. Only buckets whose manifest differs are read."""
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
    """The papers of manifests as (paper_id, sha256)."""
    rows = read_all("manifest", parts, ["paper_id", "sha256"])
    return set(zip(rows["paper_id"].to_pylist(), rows["sha256"].to_pylist(), strict=True))


def forget(parts: PartStore, papers: Collection[str], above: int) -> None:
    """Reduce outdated parts of levels above `above` to rows about `papers`. Rows of single papers and reports that
    depend only on `papers` are kept, because models may have been paid for them. Other tables of the whole collection
    are emptied, because rebuilding them is free. The parts written here name no inputs, so they count as outdated until
    their level is built again.
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
    """Whether the part was built from older versions of its inputs. For tables by paper, a newer noun graph does not
    count, because it only selects chunks and removes no text."""
    upstream = [name for name in RESTS_ON[asset] if by_shard(name) or not by_shard(asset)]
    return any(part.inputs.get(name) != asset_version(parts, name, part.shard) for name in upstream)


def _of_papers(tables: Tables, kept: pa.Array) -> tuple[Tables, set[str]]:
    """The rows of the papers in `kept`, and the ids of all other papers and of their chunks."""
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


_ID_TIME = "%Y%m%dT%H%M%S%fZ"
"""The timestamp at the beginning of a snapshot's id."""


def build_snapshot(work: Work, candidate: Candidate, connect: Connect) -> Manifest:
    """Build a candidate's snapshot in a folder named by its id, without making it current. Return its manifest. A
    failed build leaves nothing behind."""
    now, before, parts = datetime.now(UTC), candidate.before, candidate.parts
    snapshot_id = f"{_after_all(work.folder, now):{_ID_TIME}}-{candidate.content[:8]}"
    building = work.folder.snapshots / f".building-{snapshot_id}"
    building.mkdir(parents=True)
    try:
        database = building / DATABASE
        if before is not None:
            forget_changed(work, before, parts)
        with ThreadPoolExecutor(1) as beside:  # search files and DuckDB share only the parts
            search = beside.submit(_searchable, work, candidate, building / LANCE)
            copied = build_database(database, parts, connect)
            write_lineage(database, connect, work.folder.database(before.snapshot_id) if before else None)
            hashed = file_version(database)
        manifest = _manifest(work, candidate, snapshot_id, now, *search.result(), hashed, copied=copied)
        content_bytes = manifest.model_dump_json(indent=1).encode()
        write_atomically(building / MANIFEST_HASH, hashlib.sha256(content_bytes).hexdigest().encode())
        write_atomically(building / "manifest.json", content_bytes)
        sync_folder(building)
        building.rename(work.folder.snapshot(snapshot_id))
        sync_folder(work.folder.snapshots)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    return manifest


def _after_all(folder: CollectionFolder, now: datetime) -> datetime:
    """The current time, or just after the newest snapshot if a clock was set back: ids follow publishing."""
    for newest in published(folder)[-1:]:
        with suppress(ValueError):  # a name chosen by hand
            last = datetime.strptime(newest.partition("-")[0], _ID_TIME).replace(tzinfo=UTC)
            return max(now, last + timedelta(microseconds=1))
    return now


def _searchable(
    work: Work, candidate: Candidate, lance: Path
) -> tuple[list[SearchFileEntry], list[LanceFile], NearestEntry | None]:
    """Write search files, Lance tables and, for a large collection, the approximate index; return their entries."""
    folder, before, embedding = work.folder, candidate.before, candidate.embedding
    older = folder.tables(before.snapshot_id) if before else None
    tables = LanceTables(lance, older, before.lance if before else (), embedding.dimensions)
    search = before.search if before else []
    files = publish_search_files(folder.search, tables, candidate.parts, embedding, search)
    write_with_vectors(tables, candidate.parts, embedding.dimensions)
    most, known = work.settings.search.exact_up_to, before.nearest if before else None
    excluded = digest(*work.record.excluded) if work.record.excluded else ""
    nearest = publish_nearest_index(folder.search, lance, folder.lance, files, most, known, excluded)
    if nearest and nearest.recall < MIN_RECALL:
        work.warn(
            f"The approximate index of {work.name} finds {nearest.recall:.3f} of the nearest passages, less than "
            f"{MIN_RECALL}: questions are compared with all passages."
        )
    return files, tables.listed(), nearest


def _built_at(candidate: Candidate, now: datetime) -> dict[int, str]:
    """The time at which each level was built: now if one of its parts differs from the previous snapshot, otherwise the
    time in that snapshot."""
    before = candidate.before
    parts, known = _by_level(candidate.parts), _by_level(before.parts if before else [])
    written = now.isoformat(timespec="seconds")
    return {
        level: before.built_at.get(level, before.created_at) if before and known.get(level) == those else written
        for level, those in sorted(parts.items())
    }


def _by_level(parts: Iterable[Part | PartEntry]) -> dict[int, set[tuple[str, str, str]]]:
    """The parts by level. A snapshot of an earlier version may have parts of tables that no longer exist."""
    found: dict[int, set[tuple[str, str, str]]] = {}
    for part in (part for part in parts if part.table in TABLES):
        found.setdefault(TABLES[part.table].level, set()).add((part.table, part.shard, part.version))
    return found


def _manifest(
    work: Work,
    candidate: Candidate,
    snapshot_id: str,
    now: datetime,
    search: list[SearchFileEntry],
    lance: list[LanceFile],
    nearest: NearestEntry | None,
    database_sha256: str,
    *,
    copied: bool,
) -> Manifest:
    rows: dict[str, int] = {}
    for part in candidate.parts:
        rows[part.table] = rows.get(part.table, 0) + part.rows
    made_with = {name for asset in RESTS_ON for name in settings_of(asset)}
    return Manifest(
        snapshot_id=snapshot_id,
        schema_version=SCHEMA_VERSION,
        collection=work.name,
        level=max(TABLES[part.table].level for part in candidate.parts),
        behind=candidate.behind,
        created_at=now.isoformat(timespec="seconds"),
        built_at=_built_at(candidate, now),
        previous=candidate.before.snapshot_id if candidate.before else None,
        content=candidate.content,
        parts=[PartEntry.model_validate(part, from_attributes=True) for part in candidate.parts],
        rows=rows,
        search=search,
        lance=lance,
        nearest=nearest,
        embedding=candidate.embedding,
        database_sha256=database_sha256,
        settings={name: setting_value(work.settings, name) for name in sorted(made_with)},
        code_version=installed_version("monjyu"),
        checks=candidate.checks,
        copied=copied,
    )
