"""Sets the target of a run, which is the collection's record as requested, under the collection's lock."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pyarrow as pa
from filelock import FileLock, Timeout

from monjyu_assets.publishing.candidate import newest_level
from monjyu_assets.sources.records import rules_of, with_source
from monjyu_assets.sources.scan import check_source, find_files
from monjyu_assets.sources.walking import readable_types, types_hint
from monjyu_assets.stages.shared.corrected_papers import corrections_for, inputs_of
from monjyu_assets.work.closed_set import RESTS_ON, level_of
from monjyu_assets.work.run_limits import Goal, aiming_at
from monjyu_assets.work.work import Work, as_declared, declaration_of
from monjyu_core.errors import ConfigurationError
from monjyu_core.models.caps import SpendingCap
from monjyu_core.remote.collection_lock import holding
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.collection import (
    DEFAULT_LEVEL,
    CollectionRecord,
    collection_settings,
    load_record,
    target_level,
)
from monjyu_core.storage.folders import CollectionFolder, OtherFiles
from monjyu_core.storage.ids import digest
from monjyu_core.storage.snapshot import read_current

Say = Callable[[str], None]
Change = Callable[[CollectionRecord], CollectionRecord]
_locked: set[CollectionFolder] = set()
"""The collections that this process has locked."""


@contextmanager
def index_lock(work: Work, say: Say) -> Iterator[None]:
    """A context with the lock that allows one build of a collection at a time. A second build reports that it waits."""
    work.folder.root.mkdir(parents=True, exist_ok=True)
    lock = FileLock(work.folder.root / "index.lock", thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say(f"Another build of {work.name} is running; waiting for it.")
        lock.acquire()
    _locked.add(work.folder)
    try:
        with holding(work.folder, load_settings(), say):
            yield
    finally:
        _locked.discard(work.folder)
        lock.release()


def is_locked_here(folder: CollectionFolder) -> bool:
    """Whether this process has locked the collection, as a command that executes a run does."""
    return folder in _locked


@contextmanager
def working_towards(
    work: Work,
    change: Change,
    *,
    new: bool = False,
    removed: Sequence[str] = (),
) -> Iterator[None]:
    """A context in which `change` of the record applies. The run that publishes writes the changed record.

    A `new` collection need not be known. A declaration overrides `change`. If the published level is above that of the
    record, it counts as the record's level.
    """
    record = load_record(work.folder)
    if record is None:
        level = DEFAULT_LEVEL if declaration_of(work.folder) is None else 0
        record = CollectionRecord(name=work.name, level=level) if new else work.record
    record = record.model_copy(update={"level": max(record.level, newest_level(work.folder))}, deep=True)
    goal = as_declared(work.folder, change(record))
    kept, lowers = min(record.level, goal.level), goal.level < record.level
    with aiming_at(Goal(work.folder, goal, kept, lowers, tuple(removed))):
        work.take_record(goal)
        yield


def cap_of(work: Work, max_cost_usd: float | None) -> SpendingCap:
    """The spending cap for all assets of a run together."""
    spending = work.settings.spending
    most = spending.max_cost_usd_per_run if max_cost_usd is None else max_cost_usd
    return SpendingCap("run", most, spending.max_calls_per_run)


def goal_of_request(
    work: Work,
    sources: Sequence[Path],
    level: int | None,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
) -> Change:
    """A change that adds `sources` and patterns to the record, and raises its level to `level`. A new collection gets
    `level`, by default DEFAULT_LEVEL. Raises ConfigurationError if a source cannot be used.
    """
    types = readable_types(load_settings())
    asked = [check_source(source, types) for source in sources]
    known = load_record(work.folder) is not None

    def goal(record: CollectionRecord) -> CollectionRecord:
        for source in asked:
            record = _with_new_source(record, source, include, exclude, types)
        if not known and level is not None:
            return record.model_copy(update={"level": level})
        if level is not None and level < record.level:
            work.warn(f"{work.name} stays at level {record.level}; `monjyu downgrade` lowers it.")
        return record.model_copy(update={"level": max(record.level, level or 0)})

    return goal


def _with_new_source(
    record: CollectionRecord,
    source: Path,
    include: Sequence[str] | None,
    exclude: Sequence[str] | None,
    types: Mapping[str, str],
) -> CollectionRecord:
    """The record with a source. Raises ConfigurationError if a new source has no document; a known one may be empty."""
    patterns = (include, exclude) if source.is_dir() else (None, None)
    changed = with_source(record, source, *patterns)
    if str(source) not in record.sources:
        check_holds_documents(changed, source, types)
    return changed


def check_holds_documents(record: CollectionRecord, source: Path, types: Mapping[str, str]) -> None:
    """Raise ConfigurationError if a source has no documents. Only it is walked: others may be unreadable."""
    rules = {known: rule for known, rule in rules_of(record).items() if source.is_relative_to(known)}
    walked = record.model_copy(update={"sources": list(rules), "rules": rules})
    others = OtherFiles()
    if not any(file.path.is_relative_to(source) for file in find_files(walked, others=others, types=types)):
        chosen = any(rule.include or rule.exclude for rule in rules.values())
        hint = types_hint(others) + " Also check the patterns." * chosen
        raise ConfigurationError(f"{source} has no documents.", hint)


def lowered_record(record: CollectionRecord, *, level: int) -> CollectionRecord:
    if level >= record.level:
        way = f"`monjyu upgrade {record.name} --level {level}` raises it." if level > record.level else ""
        raise ConfigurationError(f"{record.name} is at level {record.level}, not above {level}.", way)
    lowered = record.model_copy(update={"level": level})
    if target_level(lowered) > level:
        raise ConfigurationError(
            f"`collection.yaml` of {record.name} sets level {target_level(lowered)}.", "Change it there first."
        )
    return lowered


# The key of a change is a hash of the inputs of a build. It does not depend on how far an earlier run got.
LENGTH = 20


def change_key(work: Work, scanned: pa.Table) -> str:
    """A hash of the sources as `scanned`, corrections, settings, code versions, level, and the current snapshot.

    It includes the snapshot, so that a return to an earlier state of the sources is also a change.
    """
    papers = zip(*(scanned[name].to_pylist() for name in ("paper_id", "sha256", "source_path")), strict=True)
    corrections = corrections_for(work, scanned)
    corrected = sorted(inputs_of(corrections, corrections).values()) if corrections else []
    return digest(basis(work), *corrected, *("\t".join(paper) for paper in sorted(papers)), length=LENGTH)


def basis(work: Work) -> str:
    """A hash of the inputs in `change_key` that do not depend on the papers."""
    unsettled = work.record.model_copy(update={"embedding_model": None, "embedding_precision": None})
    settings = json.dumps(collection_settings(unsettled).model_dump(), default=_plain, sort_keys=True)
    level = target_level(work.record)
    return digest(work.name, settings, *_code_versions(level), str(level), read_current(work.folder) or "")


def _plain(value: object) -> object:
    """A secret as its value, because a corrected API key is a changed setting; any other value as text."""
    secret = getattr(value, "get_secret_value", None)
    return secret() if secret else str(value)


def _code_versions(level: int) -> list[str]:
    """The code versions of the assets up to a level. Stages of higher levels are not imported."""
    from monjyu_assets.parsing.dispatch import PARSER_VERSION

    stages = {asset: import_module(f"monjyu_assets.stages.{asset}") for asset in RESTS_ON if level_of(asset) <= level}
    return [f"{asset} {getattr(stage, 'CODE_VERSION', PARSER_VERSION)}" for asset, stage in stages.items()]
