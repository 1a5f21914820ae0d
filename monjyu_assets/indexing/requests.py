"""Carries out requests for a collection's index: index, upgrade, downgrade, and changes of sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import pyarrow.compute as pc
from pydantic import BaseModel

from monjyu_assets.planning.pending import (
    IndexResult,
    PaperCounts,
    Usage,
    check_level,
    failure_rows,
    level_causes,
    level_failures,
    look,
)
from monjyu_assets.planning.targets import (
    Say,
    cap_of,
    check_holds_documents,
    goal_of_request,
    index_lock,
    lowered_record,
    working_towards,
)
from monjyu_assets.sources.records import moved_source, named_source, rules_of, without_source
from monjyu_assets.sources.scan import check_source, papers_under
from monjyu_assets.sources.walking import readable_types
from monjyu_assets.stages import paper_manifest as manifest
from monjyu_assets.work.closed_set import drop_levels_above
from monjyu_assets.work.model_choice import keep_record
from monjyu_assets.work.run_limits import NoCalls, Scan, having_scanned, without_scan
from monjyu_assets.work.work import Progress, Timer, Work, declaration_of, no_progress, no_warning, record_of
from monjyu_core.errors import ConfigurationError
from monjyu_core.models.ledger_totals import CallFilter, Used, usage_of
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.collection import CollectionRecord, known_record, load_record, target_level
from monjyu_core.storage.folders import DataFolder, read_other_files
from monjyu_core.storage.ids import check_collection_name, collection_name_for, unlike_source
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.snapshot import published, read_current

if TYPE_CHECKING:
    from monjyu_assets.libraries.library_folder import Synced
    from monjyu_assets.libraries.syncing import Kind


def bring_up(
    work: Work,
    source: str,
    *,
    allow_deletes: bool,
    asked_for: bool = False,
    max_cost_usd: float | None = None,
) -> IndexResult:
    """Compute and publish changes, up to the collection's level, with one Dagster run, or none if nothing has changed.
    Levels that call models are updated only if the user asked for it or the settings allow it."""
    timer = Timer()
    before = used_by(work)
    pending = look(work, source, allow_deletes=allow_deletes, asked_for=asked_for, again=True)
    if pending.needed:
        from monjyu_assets.orchestration.runs import run_build

        with having_scanned(Scan(work.folder, pending.scanned, work.others)):
            run_build(
                work,
                pending.level,
                again=asked_for,
                cap=cap_of(work, max_cost_usd),
                asked={"sources": list(work.record.sources), "allow_deletes": allow_deletes},
            )
    else:
        newest = published(work.folder)[-1]  # not newest_level, because is_published has just checked its files
        keep_record(work, read_manifest(work.folder, newest).level)
        if work.folder.at_work.exists():
            from monjyu_assets.orchestration.runs import end_killed

            end_killed(work)
    manifest.keep_other_files(work)
    done = result(work, pending.counts, timer.seconds, before)
    target = target_level(work.record)
    if done.level < target and pending.level < target:
        work.warn(
            f"Levels {pending.level + 1} to {target} of {work.name} call models and were not updated. Update them with "
            f"`monjyu upgrade {work.name} --level {target}`, or set levels.follow_changes."
        )
    return done


def used_by(work: Work) -> Used:
    """The model usage of the collection's assets so far; the ledger is read only if a model is set up."""
    return usage_of(work.data, CallFilter("asset", collection=work.name)) if work.settings.models else Used()


def result(work: Work, counts: PaperCounts, seconds: float, before: Used) -> IndexResult:
    """The result of a run, from the published snapshot. `before` is the model usage before the run."""
    after = used_by(work)
    usage = {name: getattr(after, name) - getattr(before, name) for name in Usage.model_fields}
    snapshot_id = read_current(work.folder) or ""
    served = read_manifest(work.folder, snapshot_id)
    failures = failure_rows(work)
    of_chunks = level_failures(work)
    unembedded = {failure.source_path for failure in of_chunks if failure.asset == "chunk_embeddings"}
    counts.failed = len(failures) + len(unembedded)
    others = read_other_files(work.folder)
    counts.unsupported, counts.skipped = others.unsupported_count, others.skipped_count
    return IndexResult(
        collection=work.name,
        level=served.level,
        snapshot_id=snapshot_id,
        papers=counts,
        chunks=served.rows["chunks"],
        seconds=round(seconds, 3),
        usage=Usage(**usage),
        failures=[*failures, *of_chunks],
        causes=level_causes(work),
        behind=served.behind,
        unsupported=others.unsupported,
    )


if find_spec("dagster") is None:  # a query-only installation fails before anything is read or written
    raise ModuleNotFoundError("No module named 'dagster'", name="dagster")


def index_collection(
    data: DataFolder,
    sources: Path | Sequence[Path],
    name: str | None = None,
    *,
    level: int | None = None,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    allow_deletes: bool = False,
    max_cost_usd: float | None = None,
    progress: Progress = no_progress,
    say: Say = no_warning,
) -> IndexResult:
    """Index sources (folders or files) into a collection and publish it. Without sources, the collection is updated.

    The collection is built up to `level`, or its previous level if that is higher. `include` and `exclude` select files
    of the given folders, also in later runs, until changed. A call that fails changes neither record nor snapshot. The
    total cost of model calls stays within `max_cost_usd`.
    """
    types = readable_types(load_settings())
    asked = [check_source(source, types) for source in ([sources] if isinstance(sources, Path) else sources)]
    if (include is not None or exclude is not None) and not any(source.is_dir() for source in asked):
        raise ConfigurationError("Patterns select files of a folder, but no folder was given.", "Give the folder.")
    work = Work(data, _name_for(asked, name, say), progress, _once(say))
    if level is not None:
        check_level(level)
    if not asked:
        record_of(data, work.name)
    goal = goal_of_request(work, asked, level, include, exclude)
    if asked and load_record(work.folder) is None:
        goal(CollectionRecord(name=work.name))  # an invalid request must not create a folder
    if asked:
        _tell_declared(work)
    with index_lock(work, say), working_towards(work, goal, new=bool(asked) or declaration_of(work.folder) is not None):
        named = ", ".join(map(str, asked or work.record.sources))
        asked_for = level is not None
        return bring_up(work, named, allow_deletes=allow_deletes, asked_for=asked_for, max_cost_usd=max_cost_usd)


def import_library(
    data: DataFolder,
    kind: Kind,
    path: Path,
    name: str,
    *,
    level: int | None = None,
    allow_deletes: bool = False,
    progress: Progress = no_progress,
    say: Say = no_warning,
) -> tuple[Synced, IndexResult]:
    """Import the works of a library into a collection and index it. Another import of the same path follows its
    changes. Raises ConfigurationError, without any change, if the library cannot be read or is empty."""
    from monjyu_assets.libraries.syncing import sync_library

    done = sync_library(data, kind, path, name, say=say)
    return done, index_collection(
        data, data.papers / name, name, level=level, allow_deletes=allow_deletes, progress=progress, say=say
    )


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
    """Build a known collection up to a level. Raises ConfigurationError if the collection is not known, or is at a
    higher level.

    The run retries earlier failures of models. The total cost of model calls stays within `max_cost_usd`.
    """
    check_level(level)
    work = Work(data, name, progress, _once(say))
    known_record(data, name)

    def goal(record: CollectionRecord) -> CollectionRecord:
        kept = target_level(record)
        if level < kept:
            raise ConfigurationError(
                f"{name} is already at level {kept}; an upgrade to {level} would change nothing.",
                f"`monjyu downgrade {name} --level {level}` drops the levels above {level}.",
            )
        return record.model_copy(update={"level": level})

    with index_lock(work, say), working_towards(work, goal):
        sources = ", ".join(work.record.sources)
        return bring_up(work, sources, allow_deletes=allow_deletes, asked_for=True, max_cost_usd=max_cost_usd)


def downgrade_collection(
    data: DataFolder,
    name: str,
    level: int,
    *,
    progress: Progress = no_progress,
    say: Say = no_warning,
) -> IndexResult:
    """Drop the levels above `level` and publish without them, without scanning the sources. Raises ConfigurationError
    if the collection is not above `level`, or if `collection.yaml` or its declaration requests a higher level.
    """
    from monjyu_assets.orchestration.runs import run_build

    check_level(level)
    known_record(data, name)
    declared = declaration_of(data.collection(name))
    if declared is not None and declared.level > level:  # it would restore the dropped levels
        raise ConfigurationError(
            f"{name} is declared at level {declared.level} in {declared.place}.", "Change it there."
        )
    work = Work(data, name, progress, _once(say))
    _tell_declared(work)
    timer = Timer()
    with index_lock(work, say), working_towards(work, partial(lowered_record, level=level)), without_scan():
        before = used_by(work)
        pending = look(work, "", allow_deletes=True, level=level)
        drop_levels_above(work.parts, level)
        run_build(work, level, cap=NoCalls(), asked={"downgrade": True})
        return result(work, pending.counts, timer.seconds, before)


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
    """Change a collection's sources and index it. Papers of sources in `removed` go without confirmation."""
    work = Work(data, name, progress, _once(say))
    known_record(data, name)
    _tell_declared(work)
    with index_lock(work, say), working_towards(work, change, removed=removed):
        return bring_up(work, ", ".join(work.record.sources), allow_deletes=allow_deletes)


class ListedSource(BaseModel):
    """A source, the number of its indexed papers, whether it exists, and the patterns that select its files."""

    path: str
    papers: int
    readable: bool
    include: list[str]
    exclude: list[str]


def list_sources(data: DataFolder, name: str) -> list[ListedSource]:
    """The sources of a collection in order of addition. Raises ConfigurationError for an unknown collection."""
    record = known_record(data, name)
    scanned = manifest.current_manifest(Work(data, name))
    return [
        ListedSource(
            path=source,
            papers=pc.sum(papers_under(scanned, source)).as_py() or 0,
            readable=Path(source).exists(),
            include=rules.include,
            exclude=rules.exclude,
        )
        for source, rules in rules_of(record).items()
    ]


def move_source(data: DataFolder, name: str, old: str | Path, new: Path, **how: Unpack[How]) -> IndexResult:
    """Record a source's new location. Its papers keep their ids and results. `old` need not exist."""
    types = readable_types(load_settings())
    there = check_source(new, types)
    check_holds_documents(CollectionRecord(name=name, sources=[str(there)]), there, types)
    return change_sources(data, name, lambda record: moved_source(record, named_source(record, old), there), **how)


def remove_source(data: DataFolder, name: str, source: str | Path, **how: Unpack[How]) -> IndexResult:
    """Remove a source and its papers from the index."""
    named = named_source(known_record(data, name), source)
    return change_sources(data, name, lambda record: without_source(record, named), removed=[named], **how)


class How(TypedDict, total=False):
    """Options for changing sources, as in `index_collection`."""

    allow_deletes: bool
    progress: Progress
    say: Say


def _name_for(sources: Sequence[Path], name: str | None, say: Say) -> str:
    if name is None and len(sources) != 1:
        what = "Several sources were given" if sources else "No source was given"
        raise ConfigurationError(f"{what}, but no collection.", "Name it with -c NAME (collection= in Python).")
    if name is not None:
        return check_collection_name(name)
    name = collection_name_for(sources[0])
    if unlike_source(name, sources[0]):
        say(f"{sources[0].name!r} becomes the collection {name!r}: names contain a-z, 0-9, _ and -. -c sets another.")
    return name


def _tell_declared(work: Work) -> None:
    """Warn that a command's change of a declared collection lasts only until the Dagster project that declares it runs
    the next time."""
    record = load_record(work.folder)
    if record and record.declared and Path(record.declared).exists():
        work.warn(
            f"{work.name} is declared in {record.declared}, which overrides this change from Dagster's next run on. "
            "Edit the declaration."
        )


def _once(say: Say) -> Say:
    """A `say` that passes each message on only once, because scans before and during runs send the same messages."""
    passed_on: set[str] = set()

    def tell(text: str) -> None:
        if text not in passed_on:
            passed_on.add(text)
            say(text)

    return tell
