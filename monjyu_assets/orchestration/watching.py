"""Checks a collection's sources: what a build would do, and whether it may start automatically. Uses no Dagster."""

import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
from filelock import FileLock, Timeout

from monjyu_assets.libraries.library_folder import check_library, mark_of
from monjyu_assets.libraries.syncing import library_files, library_mark
from monjyu_assets.planning.pending import Pending, look, paid_levels
from monjyu_assets.planning.targets import LENGTH, basis, change_key, is_locked_here
from monjyu_assets.sources.scan import find_files
from monjyu_assets.sources.walking import readable_types
from monjyu_assets.stages.paper_manifest import current_manifest, keep_other_files
from monjyu_assets.work.closed_set import HIGHEST, level_of, primary
from monjyu_assets.work.closed_set import RESTS_ON as ASSETS
from monjyu_assets.work.work import Work, declaration_of, declared_names, record_of
from monjyu_core.errors import ConfigurationError, MonjyuError
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.collection import known_record, target_level
from monjyu_core.storage.folders import CollectionFolder, DataFolder
from monjyu_core.storage.ids import check_collection_name, digest

State = Literal["same", "changed", "settling", "busy", "waiting", "stopped"]


@dataclass(frozen=True)
class Watched:
    """The state of a collection. `key` identifies the change (`change_key`); `level` is the level that may be built
    automatically."""

    name: str
    state: State
    message: str = ""
    key: str = ""
    level: int = 0


def watched_collections(data: DataFolder) -> list[str]:
    """The names of indexed and declared collections, and of folders in `papers/` that contain a document and are not a
    source of another collection."""
    known = sorted({*data.collections(), *declared_names(data)})
    sources = {source for name in known for source in _sources(data, name)}
    folders = [path for path in data.papers.iterdir() if path.is_dir()] if data.papers.is_dir() else []
    new = [path for path in folders if not any(path.is_relative_to(source) for source in sources)]
    return sorted({*known, *(path.name for path in new if _begins_a_collection(data, path.name))})


def _sources(data: DataFolder, name: str) -> list[Path]:
    """The sources; empty if the record cannot be read, which the check of that collection reports."""
    try:
        return [Path(source) for source in record_of(data, name).sources]
    except MonjyuError:
        return []


def _begins_a_collection(data: DataFolder, name: str) -> bool:
    try:
        check_collection_name(name)
        return bool(find_files(known_record(data, name), types=readable_types(load_settings())))
    except MonjyuError:
        return False  # the folder's name cannot name a collection


def watch_collection(data: DataFolder, name: str) -> Watched:
    """Check one collection. Errors become its message, because an unreadable collection must not block others."""
    try:
        with closing(Work(data, name)) as work:
            return _look_at(work)
    except MonjyuError as error:
        return Watched(name, "stopped", str(error))
    except OSError as error:
        return Watched(name, "stopped", f"{error.filename or data.root}: {error.strerror or error}")


def _look_at(work: Work) -> Watched:
    name = work.name
    if is_being_indexed(work.folder):
        return Watched(name, "busy", "It is being indexed.")
    declaration = declaration_of(work.folder)
    if declaration and declaration.library and (watched := _library_changed(work, declaration.library)):
        return watched
    if not work.parts.heads("manifest"):
        return _first_look(work)
    level = automatic_level(work)
    pending = look(work, ", ".join(work.record.sources), allow_deletes=False, level=level)
    if not pending.needed:
        keep_other_files(work)
        return Watched(name, "same")
    fresh = _seconds_since_change(work, pending.scanned)
    if abs(fresh) < work.settings.automation.settle_seconds:  # a time far in the future is from another clock
        return _settling(name, fresh)
    _may_embed(work, describe(pending))
    return Watched(name, "changed", describe(pending), change_key(work, pending.scanned), level)


def _library_changed(work: Work, library: Path) -> Watched | None:
    """Check a library by its files' sizes and times only, as a tick imports nothing; None if unchanged."""
    mark = library_mark(check_library(library))
    if mark == mark_of(work.data, work.name, library):
        return None
    fresh = time.time() - max(file.stat().st_mtime for file in library_files(library))
    if abs(fresh) < work.settings.automation.settle_seconds:
        return _settling(work.name, fresh)
    _may_embed(work, "The library changed")
    key = digest(basis(work), library, mark, length=LENGTH)
    return Watched(work.name, "changed", "The library changed", key, automatic_level(work))


def _first_look(work: Work) -> Watched:
    """Check a collection that has never been scanned, by names, sizes and times only, because hashing a large folder
    would take longer than a tick."""
    stats = [(file.relative, file.path.stat()) for file in find_files(work.record, types=readable_types(work.settings))]
    if not stats:
        return Watched(work.name, "same")
    fresh = time.time() - max(stat.st_mtime for _, stat in stats)
    if abs(fresh) < work.settings.automation.settle_seconds:  # a time far in the future is from another clock
        return _settling(work.name, fresh)
    _may_embed(work, f"Files: {len(stats)} new")
    files = (f"{name}\t{stat.st_size}\t{stat.st_mtime_ns}" for name, stat in stats)
    key = digest(basis(work), *files, length=LENGTH)
    return Watched(work.name, "changed", f"Files: {len(stats)} new", key, automatic_level(work))


def _settling(name: str, fresh: float) -> Watched:
    return Watched(name, "settling", f"A file was changed {max(fresh, 0):.0f} s ago; waiting until it is whole.")


def _may_embed(work: Work, what: str) -> None:
    """Raise ConfigurationError if a remote model would embed the change and the settings do not allow that."""
    if work.settings.embedding.remote and not work.settings.automation.allow_paid_embeddings:
        raise ConfigurationError(
            f"{what}, and embedding calls the model {work.settings.embedding.remote!r}.",
            "Run `monjyu index`, or allow it with automation.allow_paid_embeddings.",
        )


def is_being_indexed(folder: CollectionFolder) -> bool:
    """Whether a build has the collection's lock."""
    if not folder.root.is_dir() or is_locked_here(folder):  # inside a build, its own lock does not count
        return False
    try:
        with FileLock(folder.root / "index.lock", timeout=0):
            return False
    except Timeout:
        return True


def automatic_level(work: Work) -> int:
    """The highest level that may be updated automatically: up to 1, and above that while each level may follow."""
    target = min(target_level(work.record), HIGHEST)
    level = min(target, 1)
    while level < target and may_follow(work, level + 1):
        level += 1
    return level


def may_follow(work: Work, level: int) -> bool:
    """Whether a level is updated automatically. Levels 0 and 1 always are. A higher level must have been built before
    or be declared, and be allowed by automation.auto_refresh_levels (by default unless it uses a paid model)."""
    if level <= 1:
        return True
    declaration = declaration_of(work.folder)
    begun = (declaration is not None and level <= declaration.level) or any(
        work.parts.heads(primary(asset)) for asset in ASSETS if level_of(asset) == level
    )
    allowed = work.settings.automation.auto_refresh_levels
    return begun and (level not in paid_levels(work.settings) if allowed == "free" else level in allowed)


def _seconds_since_change(work: Work, scanned: pa.Table) -> float:
    """The seconds since the newest new or changed file was written; infinity if there is none."""
    columns = ("paper_id", "sha256", "mtime_ns")
    before = set(zip(*(current_manifest(work)[name].to_pylist() for name in columns), strict=True))
    after = zip(*(scanned[name].to_pylist() for name in columns), strict=True)
    newest = max((row[2] for row in after if row not in before), default=None)
    return float("inf") if newest is None else time.time() - newest / 1e9


def describe(pending: Pending) -> str:
    """A description of the change, such as `Papers: 2 added, 1 deleted`, or of other pending work."""
    counts = pending.counts
    changed = {"added": counts.added, "changed": counts.changed, "deleted": counts.deleted}
    counted = ", ".join(f"{count} {what}" for what, count in changed.items() if count)
    if counted:
        return f"Papers: {counted}"
    if any(pending.shards.values()) or pending.further:
        return "Corrections, moved files, other code or other settings"
    return "Computed results are not published"
