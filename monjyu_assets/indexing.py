"""`monjyu index`: bring a collection to its sources, with as few Dagster runs as that needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from filelock import FileLock, Timeout
from pydantic import BaseModel

from monjyu_assets.publishing.closed_set import FAILURES, HIGHEST, whole_level
from monjyu_assets.publishing.publish import is_published
from monjyu_assets.scan import DOCUMENT_TYPES, check_source
from monjyu_assets.stages import manifest
from monjyu_assets.stages.common import Progress, Timer, Work
from monjyu_assets.staleness import stale_collection_assets, stale_level, stale_phrases, stale_shards
from monjyu_core.collection import CollectionRecord, load_record, save_record, target_level
from monjyu_core.errors import ConfigurationError
from monjyu_core.folders import DataFolder
from monjyu_core.ids import check_collection_name, collection_name_for
from monjyu_core.models.caps import SpendingCap
from monjyu_core.models.ledger_totals import CallFilter, Used, usage_of
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
    """Model calls of a run."""

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
    behind: list[str] = []


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
        return bring_up(work, str(source), allow_deletes=allow_deletes, asked_for=level is not None)


def upgrade_collection(
    data: DataFolder,
    name: str,
    level: int,
    *,
    allow_deletes: bool = False,
    max_cost_usd: float | None = None,
    progress: Progress,
    say: Say,
) -> IndexResult:
    """Bring a collection that is known to a level and keep it there; ConfigurationError where it is not known.

    What models could not do before is tried again. With `max_cost_usd` all calls together stay within it.
    """
    work = Work(data, name, progress, say)
    record = work.record
    with index_lock(work, say):
        remember(work, None, level)
        sources = ", ".join(record.sources)
        return bring_up(work, sources, allow_deletes=allow_deletes, asked_for=True, max_cost_usd=max_cost_usd)


def bring_up(
    work: Work, source: str, *, allow_deletes: bool, asked_for: bool = False, max_cost_usd: float | None = None
) -> IndexResult:
    """Compute and publish what has changed, up to the level the collection is kept at.

    Levels that call models are brought up only where a person has asked for it, or the settings allow it.
    """
    timer = Timer()
    before = used_by(work)
    level = level_to_build(work, asked_for=asked_for)
    check_level(level)
    work.progress("scan", 0, 0)
    scanned = manifest.scan_manifest(work, allow_deletes=allow_deletes)
    if scanned.num_rows == 0 and read_current(work.folder) is None:
        raise ConfigurationError(f"{source} holds no documents.", f"Known types: {' '.join(DOCUMENT_TYPES)}.")
    counts = count_papers(work, scanned)
    stale = {0: stale_shards(work, scanned)}
    if level:
        stale[1] = sorted({*stale[0], *stale_phrases(work)})
    if (
        any(stale.values())
        or stale_collection_assets(work, level, again=asked_for)
        or any(stale_level(work, one, again=asked_for) for one in range(2, level + 1))
        or not is_published(work, min(level, whole_level(work.parts, work.settings.levels.max_failed_share)))
    ):
        from monjyu_assets.runs import Plan, run_levels

        plan = Plan(level, stale, again=asked_for)
        run_levels(work, plan, allow_deletes=allow_deletes, cap=cap_of(work, max_cost_usd))
    done = result(work, counts, timer.seconds, before)
    target = target_level(work.record)
    if done.level < target and level < target:
        work.warn(
            f"Levels {level + 1} to {target} of {work.name} call models and are left behind; `monjyu upgrade "
            f"{work.name} --level {target}` brings them up to date (or this command, with levels.follow_changes)."
        )
    return done


def level_to_build(work: Work, *, asked_for: bool) -> int:
    """The level that is kept, or the highest below it that no model is paid for."""
    level = target_level(work.record)
    roles, allowed = work.settings.roles, asked_for or work.settings.levels.follow_changes
    paying = [2] if roles.extract.engine == "llm" else [3] if roles.report.engine == "llm" else []
    return level if allowed else min([level, *(one - 1 for one in paying)])


def cap_of(work: Work, max_cost_usd: float | None) -> SpendingCap:
    """One cap for all assets of a run."""
    spending = work.settings.spending
    most = spending.max_cost_usd_per_run if max_cost_usd is None else max_cost_usd
    return SpendingCap("run", most, spending.max_calls_per_run)


def used_by(work: Work) -> Used:
    """What building the collection has taken of models until now; nothing is read where no model is set up."""
    return usage_of(work.data, CallFilter("asset", collection=work.name)) if work.settings.models else Used()


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


def result(work: Work, counts: PaperCounts, seconds: float, before: Used) -> IndexResult:
    """The state after the run, from the published snapshot."""
    after = used_by(work)
    usage = {name: getattr(after, name) - getattr(before, name) for name in Usage.model_fields}
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
        usage=Usage(**usage),
        failures=[*failures, *level_failures(work)],
        behind=published.behind,
    )


def failure_rows(work: Work) -> list[Failure]:
    rows: list[dict[str, Any]] = [
        row for part in work.parts.heads("failures") if part.rows for row in part.read().to_pylist()
    ]
    rows.sort(key=lambda row: (row["source_path"], row["paper_id"]))
    return [Failure(**{name: row[name] for name in ("source_path", "error_type", "message")}) for row in rows]


def level_failures(work: Work) -> list[Failure]:
    """What engines of levels 2 to 4 could not do, counted by paper (or `(communities)`) and cause."""
    counts: Counter[tuple[str, str, str]] = Counter()
    paths: dict[str, str] = {}
    for asset, table in FAILURES.items():
        rows = [row for part in work.parts.heads(table) if part.rows for row in part.read().to_pylist()]
        for row in rows:
            if row["failed"]:
                paths = paths or _paths(work)
                where = paths.get(row["paper_id"], row["paper_id"]) if "paper_id" in row else "(communities)"
                counts[where, row["error_type"], asset] += 1
    return [
        Failure(source_path=where, error_type=cause, message=f"{asset}: {count} without a result")
        for (where, cause, asset), count in sorted(counts.items())
    ]


def _paths(work: Work) -> dict[str, str]:
    rows = [row for part in work.parts.heads("papers") for row in part.read(["paper_id", "source_path"]).to_pylist()]
    return {row["paper_id"]: row["source_path"] for row in rows}
