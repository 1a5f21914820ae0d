"""`monjyu index`: bring a collection to its sources, with as few Dagster runs as that needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from filelock import FileLock, Timeout
from pydantic import BaseModel

from monjyu_assets.publishing.closed_set import HIGHEST, lagging
from monjyu_assets.publishing.publish import is_published
from monjyu_assets.scan import DOCUMENT_TYPES, check_source
from monjyu_assets.stages import (
    chunks,
    citation_network,
    communities,
    embeddings,
    identity,
    manifest,
    noun_graph,
    noun_phrases,
    parsing,
)
from monjyu_assets.stages.common import Progress, Timer, Work
from monjyu_core.collection import CollectionRecord, load_record, save_record, target_level
from monjyu_core.embedding import load_embedder
from monjyu_core.errors import ConfigurationError
from monjyu_core.folders import DataFolder
from monjyu_core.ids import check_collection_name, collection_name_for, shard_of
from monjyu_core.parts import PartStore
from monjyu_core.schemas import COLLECTION_SHARD, SHARDS
from monjyu_core.snapshot import read_current, read_manifest

Say = Callable[[str], None]


class PaperCounts(BaseModel):
    total: int = 0
    added: int = 0
    changed: int = 0
    deleted: int = 0
    unchanged: int = 0
    failed: int = 0


class Failure(BaseModel):
    source_path: str
    error_type: str
    message: str


class Usage(BaseModel):
    """Model calls of a run; levels 0 and 1 make none."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0


class IndexResult(BaseModel):
    """What `monjyu index --json` prints."""

    collection: str
    level: int
    snapshot_id: str
    papers: PaperCounts
    chunks: int
    seconds: float
    usage: Usage
    failures: list[Failure]


def index_collection(
    data: DataFolder,
    source: Path,
    name: str | None = None,
    *,
    level: int | None = None,
    allow_deletes: bool = False,
    progress: Progress,
    say: Say,
) -> IndexResult:
    """Index a source (a folder or a file) into a collection and publish it.

    The collection is brought to `level` and kept there; it never falls below the level it is kept at.
    """
    source = check_source(source)
    name = check_collection_name(name or collection_name_for(source))
    say = _once(say)  # the scan before the runs and the one in them find the same
    work = Work(data, name, progress, say)
    with index_lock(work, say):
        remember(work, source, level)
        return bring_up(work, str(source), allow_deletes=allow_deletes)


def upgrade_collection(
    data: DataFolder, name: str, level: int, *, allow_deletes: bool = False, progress: Progress, say: Say
) -> IndexResult:
    """Bring a collection that is known to a level and keep it there; ConfigurationError where it is not known."""
    work = Work(data, name, progress, say)
    record = work.record
    with index_lock(work, say):
        remember(work, None, level)
        return bring_up(work, ", ".join(record.sources), allow_deletes=allow_deletes)


@dataclass(frozen=True)
class Todo:
    """What a collection lacks against its sources, code and settings: shards by level, tables of the collection."""

    level: int
    counts: PaperCounts
    scanned: pa.Table
    shards: dict[int, list[str]]
    tables: list[str]
    published: bool

    @property
    def needed(self) -> bool:
        return any(self.shards.values()) or bool(self.tables) or not self.published


def bring_up(work: Work, source: str, *, allow_deletes: bool, level: int | None = None) -> IndexResult:
    """Compute and publish what has changed, up to `level`, by default the one the collection is kept at."""
    timer = Timer()
    todo = look(work, source, allow_deletes=allow_deletes, level=level)
    if todo.needed:
        from monjyu_assets.runs import Plan, run_levels

        run_levels(work, Plan(todo.level, todo.shards), allow_deletes=allow_deletes)
    return result(work, todo.counts, timer.seconds)


def look(work: Work, source: str, *, allow_deletes: bool, level: int | None = None) -> Todo:
    """Compare a collection with its sources; nothing is written. Stops with a question where much would be deleted."""
    level = target_level(work.record) if level is None else level
    check_level(level)
    work.progress("scan", 0, 0)
    scanned = manifest.scan_manifest(work, allow_deletes=allow_deletes)
    if scanned.num_rows == 0 and read_current(work.folder) is None:
        raise ConfigurationError(f"{source} holds no documents.", f"Known types: {' '.join(DOCUMENT_TYPES)}.")
    stale = {0: stale_shards(work, scanned)}
    if level:
        stale[1] = sorted({*stale[0], *stale_phrases(work)})
    tables = stale_collection_assets(work, level)
    published = not any(stale.values()) and not tables and is_published(work, level)
    return Todo(level, count_papers(work, scanned), scanned, stale, tables, published)


def _once(say: Say) -> Say:
    """Says nothing twice."""
    said: set[str] = set()

    def tell(text: str) -> None:
        if text not in said:
            said.add(text)
            say(text)

    return tell


@contextmanager
def index_lock(work: Work, say: Say) -> Iterator[None]:
    """One `monjyu index` a collection; a second one says that it waits."""
    work.folder.root.mkdir(parents=True, exist_ok=True)
    lock = FileLock(work.folder.root / "index.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say(f"Another `monjyu index` of {work.name} is running; waiting for it.")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def remember(work: Work, source: Path | None, level: int | None = None) -> None:
    """Add the source to the collection's record unless a source holds it already, and raise its level."""
    record = load_record(work.folder) or CollectionRecord(name=work.name)
    if source is None:
        record.sources = record.sources or work.record.sources
    elif not any(source.is_relative_to(known) for known in record.sources):
        inside = {known for known in record.sources if Path(known).is_relative_to(source)}
        record.sources = [*(known for known in record.sources if known not in inside), str(source)]
    if level is not None:
        check_level(level)
        record.level = max(record.level, level)
    work.record = record
    if load_record(work.folder) != record:
        save_record(work.folder, record)


def check_level(level: int) -> None:
    if level > HIGHEST:
        raise ConfigurationError(f"Level {level} cannot be built by this version.", f"Use --level {HIGHEST} or lower.")


def count_papers(work: Work, scanned: pa.Table) -> PaperCounts:
    """The scan against the manifest parts as they stand."""
    before = _contents(manifest.current_manifest(work))
    after = _contents(scanned)
    both = before.keys() & after.keys()
    changed = sum(before[paper_id] != after[paper_id] for paper_id in both)
    return PaperCounts(
        total=len(after),
        added=len(after) - len(both),
        changed=changed,
        deleted=len(before) - len(both),
        unchanged=len(both) - changed,
    )


def _contents(rows: pa.Table) -> dict[str, str]:
    return dict(zip(rows["paper_id"].to_pylist(), rows["sha256"].to_pylist(), strict=True))


def stale_shards(work: Work, scanned: pa.Table) -> list[str]:
    """The shards whose parts are not what the sources, the code and the settings would give now."""
    recipes = {
        "papers": parsing.parse_recipe(work.settings),
        "chunks": chunks.chunk_recipe(work.settings),
        "chunk_embeddings": embeddings.embedding_recipe(work.settings, load_embedder(work.settings)),
    }
    owners = pa.array([shard_of(paper_id) for paper_id in scanned["paper_id"].to_pylist()], pa.string())
    return [
        shard
        for shard in SHARDS
        if lagging(work.parts, shard) is not None
        or any(_made_with(work.parts, table, shard) != made for table, made in recipes.items())
        or not manifest.same_rows(work, shard, scanned.filter(pc.equal(owners, shard)))
    ]


def stale_phrases(work: Work) -> list[str]:
    """The shards whose phrases are missing, older than their chunks, or made with other code or settings."""
    made = noun_phrases.phrase_recipe(work.settings)
    return [
        shard
        for shard in SHARDS
        if lagging(work.parts, shard, level=1) or _made_with(work.parts, noun_phrases.TABLE, shard) != made
    ]


def stale_collection_assets(work: Work, level: int) -> list[str]:
    """The collection-level tables up to a level that are made with other code or settings than now."""
    recipes = {
        "paper_identity": identity.identity_recipe(work.settings),
        "citation_edges": citation_network.network_recipe(work.settings),
    }
    if level:
        recipes["graph_nodes"] = noun_graph.graph_recipe(work.settings)
        recipes["communities"] = communities.community_recipe(work.settings)
    return [table for table, made in recipes.items() if _made_with(work.parts, table, COLLECTION_SHARD) != made]


def _made_with(parts: PartStore, table: str, shard: str) -> str | None:
    part = parts.head(table, shard)
    return part.code_version if part else None


def result(work: Work, counts: PaperCounts, seconds: float) -> IndexResult:
    """The state after the run, from the published snapshot."""
    snapshot_id = read_current(work.folder) or ""
    published = read_manifest(work.folder, snapshot_id)
    failures = failure_rows(work)
    counts.failed = len(failures)
    return IndexResult(
        collection=work.name,
        level=published.level,
        snapshot_id=snapshot_id,
        papers=counts,
        chunks=published.rows["chunks"],
        seconds=round(seconds, 3),
        usage=Usage(),
        failures=failures,
    )


def failure_rows(work: Work) -> list[Failure]:
    rows: list[dict[str, Any]] = [
        row for part in work.parts.heads("failures") if part.rows for row in part.read().to_pylist()
    ]
    rows.sort(key=lambda row: (row["source_path"], row["paper_id"]))
    return [Failure(**{name: row[name] for name in ("source_path", "error_type", "message")}) for row in rows]
