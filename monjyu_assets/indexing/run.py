"""`monjyu index`: bring a collection to its sources, with as few Dagster runs as that needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypedDict, Unpack

from filelock import FileLock, Timeout

from monjyu_assets.indexing.index_result import (
    IndexResult,
    PaperCounts,
    Usage,
    failure_rows,
    level_causes,
    level_failures,
)
from monjyu_assets.indexing.pending import check_level, look
from monjyu_assets.indexing.record_keeping import keep_record
from monjyu_assets.indexing.scan import check_source, find_files
from monjyu_assets.indexing.sources import moved_source, named_source, rules_of, with_source, without_source
from monjyu_assets.indexing.walking import types_hint
from monjyu_assets.orchestration.run_rules import Goal, NoCalls, aiming_at, without_scan
from monjyu_assets.publishing.closed_set import drop_levels_above
from monjyu_assets.publishing.publish import newest_level
from monjyu_assets.stages import paper_manifest as manifest
from monjyu_assets.stages.shared.work import Progress, Timer, Work, no_progress, no_warning
from monjyu_core.errors import ConfigurationError
from monjyu_core.models.accounting.caps import SpendingCap
from monjyu_core.models.accounting.ledger_totals import CallFilter, Used, usage_of
from monjyu_core.storage.collection import CollectionRecord, known_record, load_record, target_level
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.ids import check_collection_name, collection_name_for, unlike_source
from monjyu_core.storage.other_files import OtherFiles, read_other_files
from monjyu_core.storage.snapshot import read_current, read_manifest

Say = Callable[[str], None]


def index_collection(
    data: DataFolder,
    sources: Path | Sequence[Path],
    name: str | None = None,
    *,
    level: int | None = None,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    allow_deletes: bool = False,
    progress: Progress = no_progress,
    say: Say = no_warning,
) -> IndexResult:
    """Index sources (folders or files; none = those it has) into a collection and publish it.

    The collection is brought to `level` and kept there; it never falls below the level it is kept at. `include` and
    `exclude` choose among the files of the folders named, and stay until others are given. Nothing is remembered of a
    call that fails.
    """
    asked = [check_source(source) for source in ([sources] if isinstance(sources, Path) else sources)]
    if (include is not None or exclude is not None) and not any(source.is_dir() for source in asked):
        raise ConfigurationError("Patterns choose among the files of a folder, and none is named.", "Name the folder.")
    work = Work(
        data, _name_for(asked, name, say), progress, _once(say)
    )  # the scans before and in the runs find the same
    if level is not None:
        check_level(level)
    if not asked:
        known_record(data, work.name)

    def goal(record: CollectionRecord) -> CollectionRecord:
        for source in asked:
            record = _with_new_source(record, source, include, exclude)
        if level is not None and level < record.level:
            work.warn(f"{work.name} stays at level {record.level}; `monjyu downgrade` lowers it.")
        return record.model_copy(update={"level": max(record.level, level or 0)})

    if asked and load_record(work.folder) is None:
        goal(CollectionRecord(name=work.name))  # what is refused leaves no folder
    with index_lock(work, say), working_towards(work, goal, new=bool(asked)):
        named = ", ".join(map(str, asked or work.record.sources))
        return bring_up(work, named, allow_deletes=allow_deletes, asked_for=level is not None)


def upgrade_collection(
    data: DataFolder,
    name: str,
    level: int,
    *,
    allow_deletes: bool = False,
    max_cost_usd: float | None = None,
    progress: Progress = no_progress,
    say: Say = no_warning,
) -> IndexResult:
    """Bring a collection that is known to a level and keep it there; ConfigurationError where it is not known, or is at
    a higher level.

    What models could not do before is tried again. With `max_cost_usd` all calls together stay within it.
    """
    check_level(level)
    work = Work(data, name, progress, _once(say))
    known_record(data, name)

    def goal(record: CollectionRecord) -> CollectionRecord:
        kept = target_level(record)
        if level < kept:
            raise ConfigurationError(
                f"{name} is kept at level {kept}; an upgrade to {level} would change nothing.",
                f"`monjyu downgrade {name} --level {level}` drops what is above level {level}.",
            )
        return record.model_copy(update={"level": level})

    with index_lock(work, say), working_towards(work, goal):
        sources = ", ".join(work.record.sources)
        return bring_up(work, sources, allow_deletes=allow_deletes, asked_for=True, max_cost_usd=max_cost_usd)


def downgrade_collection(
    data: DataFolder, name: str, level: int, *, progress: Progress = no_progress, say: Say = no_warning
) -> IndexResult:
    """Drop the levels above `level`, publish without them and keep the collection there.

    The sources are not looked at. ConfigurationError where the collection is not above `level`, or `collection.yaml`
    asks for more.
    """
    from monjyu_assets.orchestration.runs import Plan, run_levels

    check_level(level)
    known_record(data, name)
    work = Work(data, name, progress, _once(say))
    timer = Timer()
    with index_lock(work, say), working_towards(work, partial(_lowered, level=level)), without_scan():
        before = used_by(work)
        todo = look(work, "", allow_deletes=True, level=level)
        drop_levels_above(work.parts, level)
        run_levels(work, Plan(level, todo.shards), allow_deletes=True, cap=NoCalls())
        return result(work, todo.counts, timer.seconds, before)


def _lowered(record: CollectionRecord, *, level: int) -> CollectionRecord:
    if level >= record.level:
        way = f"`monjyu upgrade {record.name} --level {level}` brings it higher." if level > record.level else ""
        raise ConfigurationError(f"{record.name} is kept at level {record.level}, not above {level}.", way)
    lowered = record.model_copy(update={"level": level})
    if target_level(lowered) > level:
        raise ConfigurationError(
            f"`collection.yaml` of {record.name} asks for level {target_level(lowered)}.", "Change it there first."
        )
    return lowered


def change_sources(
    data: DataFolder,
    name: str,
    change: Callable[[CollectionRecord], CollectionRecord],
    *,
    removed: Sequence[str] = (),
    allow_deletes: bool = False,
    progress: Progress = no_progress,
    say: Say = no_warning,
) -> IndexResult:
    """Give a collection other sources and bring it to them. Papers of the sources `removed` go without a question."""
    work = Work(data, name, progress, _once(say))
    known_record(data, name)
    with index_lock(work, say), working_towards(work, change, removed=removed):
        return bring_up(work, ", ".join(work.record.sources), allow_deletes=allow_deletes)


def move_source(data: DataFolder, name: str, old: str | Path, new: Path, **how: Unpack[How]) -> IndexResult:
    """Take a source from another place: its papers keep their ids and results. `old` may be gone already."""
    there = check_source(new)
    _check_holds(CollectionRecord(name=name, sources=[str(there)]), there)
    return change_sources(data, name, lambda record: moved_source(record, named_source(record, old), there), **how)


def remove_source(data: DataFolder, name: str, source: str | Path, **how: Unpack[How]) -> IndexResult:
    """Take a source's papers out of the index, and forget it."""
    named = named_source(known_record(data, name), source)
    return change_sources(data, name, lambda record: without_source(record, named), removed=[named], **how)


class How(TypedDict, total=False):
    """How a change of sources is carried out, as in `index_collection`."""

    allow_deletes: bool
    progress: Progress
    say: Say


def _name_for(sources: Sequence[Path], name: str | None, say: Say) -> str:
    if name is None and len(sources) != 1:
        what = "Several sources need" if sources else "Without a source, one needs"
        raise ConfigurationError(f"{what} the name of a collection.", "Give it with -c NAME (collection= in Python).")
    if name is not None:
        return check_collection_name(name)
    name = collection_name_for(sources[0])
    if unlike_source(name, sources[0]):
        say(f"{sources[0].name!r} becomes the collection {name!r}: names hold a-z, 0-9, _ and -. -c gives another.")
    return name


def _with_new_source(
    record: CollectionRecord, source: Path, include: Sequence[str] | None, exclude: Sequence[str] | None
) -> CollectionRecord:
    """ConfigurationError where a source that is new has no document; an old one may have been emptied."""
    patterns = (include, exclude) if source.is_dir() else (None, None)
    changed = with_source(record, source, *patterns)
    if str(source) not in record.sources:
        _check_holds(changed, source)
    return changed


def _check_holds(record: CollectionRecord, source: Path) -> None:
    """Only the source that it lies in is walked; another may be unreadable just now."""
    rules = {known: rule for known, rule in rules_of(record).items() if source.is_relative_to(known)}
    walked = record.model_copy(update={"sources": list(rules), "rules": rules})
    others = OtherFiles()
    if not any(file.path.is_relative_to(source) for file in find_files(walked, others=others)):
        chosen = any(rule.include or rule.exclude for rule in rules.values())
        hint = types_hint(others) + " Look at the patterns, too." * chosen
        raise ConfigurationError(f"{source} holds no documents.", hint)


@contextmanager
def working_towards(
    work: Work,
    change: Callable[[CollectionRecord], CollectionRecord],
    *,
    new: bool = False,
    removed: Sequence[str] = (),
) -> Iterator[None]:
    """Inside, the collection is worked on as if `change` of its record were written; the run that publishes writes it.

    A collection that is `new` need not be known. A level that is published above the record's counts as its level.
    """
    record = load_record(work.folder)
    if record is None:
        record = CollectionRecord(name=work.name) if new else work.record
    record = record.model_copy(update={"level": max(record.level, newest_level(work.folder))}, deep=True)
    goal = change(record)
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
) -> IndexResult:
    """Compute and publish what has changed, up to `level`, by default the one the collection is kept at.

    Levels that call models are brought up only where a person has asked for it, or the settings allow it.
    """
    timer = Timer()
    before = used_by(work)
    todo = look(work, source, allow_deletes=allow_deletes, asked_for=asked_for, level=level)
    if todo.needed:
        from monjyu_assets.orchestration.runs import Plan, run_levels

        plan = Plan(todo.level, todo.shards, again=asked_for)
        run_levels(work, plan, allow_deletes=allow_deletes, cap=cap_of(work, max_cost_usd))
    else:
        keep_record(work, newest_level(work.folder))
        if work.folder.at_work.exists():
            from monjyu_assets.orchestration.runs import end_killed

            end_killed(work)
    manifest.keep_other_files(work)
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


def result(work: Work, counts: PaperCounts, seconds: float, before: Used) -> IndexResult:
    """The state after the run, from the published snapshot."""
    after = used_by(work)
    usage = {name: getattr(after, name) - getattr(before, name) for name in Usage.model_fields}
    snapshot_id = read_current(work.folder) or ""
    published = read_manifest(work.folder, snapshot_id)
    failures = failure_rows(work)
    counts.failed = len(failures)
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
        failures=[*failures, *level_failures(work)],
        causes=level_causes(work),
        behind=published.behind,
        unsupported=others.unsupported,
    )
