"""`monjyu index`: bring a collection to its sources, with as few Dagster runs as that needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from filelock import FileLock, Timeout

from monjyu_assets.indexing.declarations import as_declared
from monjyu_assets.indexing.index_result import (
    IndexResult,
    PaperCounts,
    Usage,
    failure_rows,
    level_causes,
    level_failures,
)
from monjyu_assets.indexing.pending import look
from monjyu_assets.indexing.record_keeping import keep_record
from monjyu_assets.publishing.candidate import newest_level
from monjyu_assets.stages import paper_manifest as manifest
from monjyu_assets.stages.shared.run_rules import Goal, Scan, aiming_at, having_scanned
from monjyu_assets.stages.shared.work import Timer, Work
from monjyu_core.models.accounting.caps import SpendingCap
from monjyu_core.models.accounting.ledger_totals import CallFilter, Used, usage_of
from monjyu_core.remote.holding import holding
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.collection import CollectionRecord, load_record, target_level
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.other_files import read_other_files
from monjyu_core.storage.snapshot import read_current

Say = Callable[[str], None]


@contextmanager
def working_towards(
    work: Work,
    change: Callable[[CollectionRecord], CollectionRecord],
    *,
    new: bool = False,
    removed: Sequence[str] = (),
) -> Iterator[None]:
    """Inside, work goes on as if `change` of the record were written; the run that publishes writes it.

    A `new` collection need not be known; what a declaration says stands over `change`. A published level above the
    record's counts as its level.
    """
    record = load_record(work.folder)
    if record is None:
        record = CollectionRecord(name=work.name) if new else work.record
    record = record.model_copy(update={"level": max(record.level, newest_level(work.folder))}, deep=True)
    goal = as_declared(work.folder, change(record))
    kept, lowers = min(record.level, goal.level), goal.level < record.level
    with aiming_at(Goal(work.folder, goal, kept, lowers, tuple(removed))):
        work.take_record(goal)
        yield


def bring_up(
    work: Work,
    source: str,
    *,
    allow_deletes: bool,
    asked_for: bool = False,
    max_cost_usd: float | None = None,
    level: int | None = None,
    again: bool = True,
) -> IndexResult:
    """Compute and publish what has changed, up to `level`, by default the one the collection is kept at. Levels that
    call models are updated only where the user asked for it or the settings allow it. `again`: try to embed what could
    not be embedded before."""
    timer = Timer()
    before = used_by(work)
    pending = look(work, source, allow_deletes=allow_deletes, asked_for=asked_for, level=level, again=again)
    if pending.needed:
        from monjyu_assets.orchestration.runs import Plan, run_levels

        plan = Plan(pending.level, pending.shards, again=asked_for)
        with having_scanned(Scan(work.folder, pending.scanned, work.others)):
            run_levels(work, plan, allow_deletes=allow_deletes, cap=cap_of(work, max_cost_usd))
    else:
        keep_record(work, newest_level(work.folder))
        if work.folder.at_work.exists():
            from monjyu_assets.orchestration.runs import end_killed

            end_killed(work)
    manifest.keep_other_files(work)
    done = result(work, pending.counts, timer.seconds, before)
    target = target_level(work.record)
    if done.level < target and pending.level < target:
        why = "call models" if level is None else "do not follow by themselves"
        work.warn(
            f"Levels {pending.level + 1} to {target} of {work.name} {why} and are left behind; `monjyu upgrade "
            f"{work.name} --level {target}` brings them up to date (or this command, with levels.follow_changes)."
        )
    return done


def cap_of(work: Work, max_cost_usd: float | None) -> SpendingCap:
    """One spending cap for all assets of a run."""
    spending = work.settings.spending
    most = spending.max_cost_usd_per_run if max_cost_usd is None else max_cost_usd
    return SpendingCap("run", most, spending.max_calls_per_run)


def used_by(work: Work) -> Used:
    """Model usage of the collection's assets until now. Reads nothing where no model is set up."""
    return usage_of(work.data, CallFilter("asset", collection=work.name)) if work.settings.models else Used()


@contextmanager
def index_lock(work: Work, say: Say) -> Iterator[None]:
    """Hold the lock that allows one `monjyu index` a collection; a second one says that it waits."""
    work.folder.root.mkdir(parents=True, exist_ok=True)
    lock = FileLock(work.folder.root / "index.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say(f"Another `monjyu index` of {work.name} is running; waiting for it.")
        lock.acquire()
    try:
        with holding(work.folder, load_settings(), say):
            yield
    finally:
        lock.release()


def result(work: Work, counts: PaperCounts, seconds: float, before: Used) -> IndexResult:
    """The state after the run, from the published snapshot."""
    after = used_by(work)
    usage = {name: getattr(after, name) - getattr(before, name) for name in Usage.model_fields}
    snapshot_id = read_current(work.folder) or ""
    published = read_manifest(work.folder, snapshot_id)
    failures = failure_rows(work)
    of_chunks = level_failures(work)
    unembedded = {failure.source_path for failure in of_chunks if failure.asset == "chunk_embeddings"}
    counts.failed = len(failures) + len(unembedded)
    others = read_other_files(work.folder)
    counts.unsupported, counts.skipped = others.unsupported_count, others.skipped_count
    return IndexResult(
        collection=work.name,
        level=published.level,
        snapshot_id=snapshot_id,
        papers=counts,
        chunks=published.rows["chunks"],
        seconds=round(seconds, 3),
        usage=Usage(**usage),
        failures=[*failures, *of_chunks],
        causes=level_causes(work),
        behind=published.behind,
        unsupported=others.unsupported,
    )
