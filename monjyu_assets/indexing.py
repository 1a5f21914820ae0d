"""`monjyu index`: bring a collection to its sources, with as few Dagster runs as that needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from monjyu_assets.index_result import IndexResult, PaperCounts, Usage, failure_rows, level_causes, level_failures
from monjyu_assets.scan import check_source
from monjyu_assets.stages.common import Progress, Timer, Work
from monjyu_assets.todo import check_level, look
from monjyu_core.collection import CollectionRecord, load_record, save_record, target_level
from monjyu_core.folders import DataFolder
from monjyu_core.ids import check_collection_name, collection_name_for, unlike_source
from monjyu_core.models.caps import SpendingCap
from monjyu_core.models.ledger_totals import CallFilter, Used, usage_of
from monjyu_core.snapshot import read_current, read_manifest

Say = Callable[[str], None]


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
    say = _once(say)  # the scan before the runs and the one in them find the same
    if name is None:
        name = collection_name_for(source)
        if unlike_source(name, source):
            say(f"{source.name!r} becomes the collection {name!r}: names hold a-z, 0-9, _ and -. -c gives another.")
    name = check_collection_name(name)
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
    work: Work,
    source: str,
    *,
    allow_deletes: bool,
    asked_for: bool = False,
    max_cost_usd: float | None = None,
    level: int | None = None,
) -> IndexResult:
    """Compute and publish what has changed, up to `level`, by default the one the collection is kept at.

    Levels that call models are brought up only where a person has asked for it, or the settings allow it.
    """
    timer = Timer()
    before = used_by(work)
    todo = look(work, source, allow_deletes=allow_deletes, asked_for=asked_for, level=level)
    if todo.needed:
        from monjyu_assets.runs import Plan, run_levels

        plan = Plan(todo.level, todo.shards, again=asked_for)
        run_levels(work, plan, allow_deletes=allow_deletes, cap=cap_of(work, max_cost_usd))
    elif work.folder.at_work.exists():
        from monjyu_assets.runs import end_killed

        end_killed(work)
    done = result(work, todo.counts, timer.seconds, before)
    target = target_level(work.record)
    if done.level < target and todo.level < target:
        why = "call models" if level is None else "do not follow by themselves"
        work.warn(
            f"Levels {todo.level + 1} to {target} of {work.name} {why} and are left behind; `monjyu upgrade "
            f"{work.name} --level {target}` brings them up to date (or this command, with levels.follow_changes)."
        )
    return done


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
        causes=level_causes(work),
        behind=published.behind,
    )
