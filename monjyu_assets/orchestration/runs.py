"""Executes Dagster runs in this process, on the instance that the UI and the daemon use."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import dagster as dg
import sqlalchemy
from alembic.config import Config
from alembic.script import ScriptDirectory
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.errors import DagsterExecutionInterruptedError
from dagster._core.execution.api import execute_run
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from dagster._core.storage.schedules.sqlite import sqlite_schedule_storage
from dagster._core.storage.tags import PARTITION_NAME_TAG
from dagster._core.utils import make_new_run_id

from monjyu_assets.orchestration.instance import open_instance, repository_origin
from monjyu_assets.orchestration.jobs import assets_and_jobs
from monjyu_assets.orchestration.partitions import (
    COLLECTION_TAG,
    ORDER_TAG,
    QUIET,
    UNFINISHED,
    add_collections,
    command_tags,
    is_commands_own,
    remove_collection,
)
from monjyu_assets.orchestration.progress import reporting_to
from monjyu_assets.work.run_limits import spending_of, trying_again
from monjyu_assets.work.work import Work
from monjyu_core.errors import IndexBuildError, MonjyuError, StorageError
from monjyu_core.models.caps import SpendingCap
from monjyu_core.observability import set_up_observability, span
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import read_current

# Dagster's SQLite storage creates an engine for every event, so that each statement is compiled again, and closes the
# only connection to the file, so that SQLite writes its log back and syncs the file each time. For each run it reads
# all its migrations again. A command makes a thousand such calls for one edited paper. The code below avoids these
# repetitions; what is stored, and when it is durable, stays the same.
_STORAGES = (sqlite_event_log, sqlite_run_storage, sqlite_schedule_storage)


@contextmanager
def lasting_engines() -> Iterator[None]:
    """A context in which one engine per file stays open, and migrations are read once.

    It changes global state, so only one run may be active in a process.
    """
    with ExitStack() as stack:
        engines = _Engines(stack)
        for storage in _STORAGES:
            stack.enter_context(_swapped(storage, "create_engine", engines.create))
        stack.enter_context(_swapped(ScriptDirectory, "from_config", _Scripts().from_config))
        yield


@contextmanager
def _swapped(owner: object, name: str, value: object) -> Iterator[None]:
    before = vars(owner)[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


class _Engines:
    """Creates one engine per file, whose connections stay open, because Dagster opens a new one for each event."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._known: dict[str, sqlalchemy.Engine] = {}

    def create(self, url: str, **options: object) -> sqlalchemy.Engine:
        if url not in self._known:
            engine = sqlalchemy.create_engine(url, **options | {"poolclass": sqlalchemy.pool.QueuePool})
            self._stack.callback(engine.dispose)
            self._known[url] = engine
            vars(engine)["dispose"] = lambda: None  # Dagster calls it after each event
        return self._known[url]


class _Scripts:
    """Caches the migrations of each folder."""

    def __init__(self) -> None:
        self._read = ScriptDirectory.from_config
        self._known: dict[str | None, ScriptDirectory] = {}

    def from_config(self, config: Config) -> ScriptDirectory:
        place = config.get_main_option("script_location")
        if place not in self._known:
            self._known[place] = self._read(config)
        return self._known[place]


NO_ROOM = 16 << 20
"""In bytes. A run that failed with less free space than this is reported as a full disk, because a DuckDB file alone
has some MB."""


def run_build(
    work: Work,
    level: int,
    *,
    again: bool = False,
    cap: SpendingCap | None = None,
    asked: Mapping[str, object] | None = None,
) -> None:
    """Run the job of `level` for a collection. The caller has locked the collection and set its target.

    The first build of a collection is two runs: level 0 is published before the requested level, so that readers have
    something meanwhile. `again` retries failures of models; `asked` is the launch form with which a re-execution in the
    UI does the same. Raises MonjyuError.
    """
    set_up_observability(work.settings)
    work.progress("start", 1, 1)
    first = read_current(work.folder) is None
    with (
        _failures_with_cause(work.data),
        lasting_engines(),
        open_instance(work.data) as instance,
        reporting_to(work.progress, work.warn),
        spending_of(cap),
        trying_again(again),
        span("index", collection=work.name, level=level),
    ):
        end_dead_runs(instance, work.name)
        work.folder.at_work.touch()
        with _partition(instance, work):
            for one in (0, level) if first and level else (level,):
                run_job(instance, f"level_{one}", work, asked or {})
        work.folder.at_work.unlink(missing_ok=True)


@contextmanager
def _partition(instance: dg.DagsterInstance, work: Work) -> Iterator[None]:
    """A context in which the collection is a partition. A new partition is removed again if the context fails and the
    collection is not published."""
    new = add_collections(instance, [work.name])
    try:
        yield
    except BaseException:
        if new and read_current(work.folder) is None:
            with suppress(Exception):  # a full disk also prevents this, but the first error is reported
                remove_collection(instance, work.name)
        raise


def end_killed(work: Work) -> None:
    """End the run of a command that was killed after all its work was done."""
    with open_instance(work.data) as instance:
        end_dead_runs(instance, work.name)
    work.folder.at_work.unlink(missing_ok=True)


def end_dead_runs(instance: dg.DagsterInstance, collection: str) -> None:
    """Mark the runs of killed commands as failed, and end the runs that they launched on run workers.
    A command has its collection's index lock while it runs. The caller has it now, so any other command is dead.
    """
    of_collection = dg.RunsFilter(tags={COLLECTION_TAG: collection}, statuses=UNFINISHED)
    for run in instance.get_runs(of_collection):
        if ORDER_TAG in run.tags or is_commands_own(run):
            instance.report_run_failed(run, "The command that ran it was killed. The files that it wrote are kept.")
        if ORDER_TAG in run.tags:
            with suppress(Exception):  # its worker may have ended, or the launcher may have forgotten it
                instance.run_launcher.terminate(run.run_id)


def forget_collection(data: DataFolder, name: str) -> bool:
    """Remove a collection's partition; return False if it does not exist."""
    with open_instance(data) as instance:
        return remove_collection(instance, name)


def run_job(instance: dg.DagsterInstance, job: str, work: Work, asked: Mapping[str, object]) -> None:
    """Run a job of the collection in this process. A MonjyuError that stops it is raised unchanged, a full disk as
    StorageError, and any other error as IndexBuildError.

    The run belongs to the job that the UI loads (same definition, code location and configuration), so it appears in
    the job's history and can be re-executed there.
    """
    definition, run_id = assets_and_jobs.resolve_job_def(job), make_new_run_id()
    run = instance.create_run_for_job(
        definition,
        run_id=run_id,
        run_config=_run_config(instance, work.data, asked),
        tags={**definition.run_tags, PARTITION_NAME_TAG: work.name, **command_tags(work.name, run_id)},
        remote_job_origin=repository_origin().get_job_origin(job),
    )
    try:
        execute_run(InMemoryJob(definition), run, instance, raise_on_error=True)
    except DagsterExecutionInterruptedError as interrupt:
        raise KeyboardInterrupt from interrupt
    except Exception as error:
        raise _cause(error, work.data) from error


def _run_config(instance: dg.DagsterInstance, data: DataFolder, asked: Mapping[str, object]) -> Mapping[str, object]:
    """The configuration of a run, with the data folder only if instance and environment do not name it."""
    resources: dict[str, object] = {"build": {"config": dict(asked)}} if asked else {}
    if Path(instance.root_directory) != data.dagster or data.root != DataFolder.default().root:
        resources["data"] = {"config": {"root": str(data.root)}}
    return QUIET | {"resources": resources} if resources else QUIET


@contextmanager
def _failures_with_cause(data: DataFolder) -> Iterator[None]:
    """A context that turns failures outside a run, such as those of Dagster's own files, into the errors of a run."""
    try:
        yield
    except MonjyuError:
        raise
    except Exception as error:
        raise _cause(error, data) from error


def _cause(error: BaseException, data: DataFolder) -> MonjyuError:
    """The MonjyuError that caused `error`, otherwise an IndexBuildError. Libraries report a full disk in many ways, so
    the free space is checked first."""
    free = shutil.disk_usage(data.root).free
    if free < NO_ROOM:
        return StorageError(
            f"The disk of {data.root} is full ({free >> 20} MB free). The published snapshot is unchanged.",
            "Free space and run the same command again; it continues where it stopped.",
        )
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, MonjyuError):
            return inner
        inner = inner.__cause__
    return IndexBuildError(f"The run failed: {error}.", "Its log is in the Dagster UI (`monjyu up`).")
