"""Computes levels 0 and 1 of a collection's papers on run workers. The run that builds the collection adopts their
results.

If a worker dies, only its undelivered results are lost: its group goes to another worker, which starts from the parts
that were delivered.
"""

import sys
import time
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Literal

import dagster as dg
from dagster._core.code_pointer import ModuleCodePointer
from dagster._core.events import DagsterEvent, DagsterEventType
from dagster._core.launcher import LaunchRunContext, WorkerStatus
from dagster._core.origin import DEFAULT_DAGSTER_ENTRY_POINT, JobPythonOrigin, RepositoryPythonOrigin
from dagster._core.remote_origin import RemoteRepositoryOrigin
from dagster._core.utils import make_new_run_id

from monjyu_assets.orchestration.instance import repository_origin
from monjyu_assets.orchestration.partitions import COLLECTION_TAG, ORDER_TAG, OWN_PROCESS, QUIET, assets_of_run
from monjyu_assets.orchestration.workers import worker_job
from monjyu_assets.orchestration.workers.orders import GivenOrders, Order
from monjyu_assets.orchestration.workers.worker_job import compute_share, papers_on_worker, worker_definitions
from monjyu_assets.planning.staleness import built_otherwise, paper_recipes, stale_shards_of
from monjyu_assets.sources.records import analysed_types
from monjyu_assets.stages.chunks import unchunked_papers
from monjyu_assets.stages.parsed_papers import parse_shards
from monjyu_assets.stages.shared.corrected_papers import corrections_for
from monjyu_assets.stages.shared.parse_plan import Unparsed, keep_sources, rests_on_other
from monjyu_assets.work.model_choice import settle_model
from monjyu_assets.work.work import Work
from monjyu_core.errors import ConfigurationError, IndexBuildError
from monjyu_core.remote.collection_lock import own_lock
from monjyu_core.remote.object_store import open_objects
from monjyu_core.settings.settings import Settings, load_settings
from monjyu_core.storage.collection import collection_yaml_text
from monjyu_core.storage.schemas import SHARDS

# A run on another machine is launched, followed, and its outcome reported.
Fate = Literal["running", "done", "failed", "died", "not begun"]
BEGINNING = (dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.QUEUED)


class LaunchedRun:
    """A run on a worker. Its fate is `died` if its worker has not reported for `lease_seconds`, and `not begun` if no
    worker has taken it within `start_seconds`."""

    def __init__(
        self,
        instance: dg.DagsterInstance,
        collection: str,
        shards: Sequence[str],
        order: str,
        repository: RemoteRepositoryOrigin,
    ) -> None:
        self._instance = instance
        self._beat: str | None = None
        self._since = time.monotonic()
        self._begun = False
        definition, self.run_id = worker_definitions.resolve_job_def(papers_on_worker.name), make_new_run_id()
        config = {"collection": collection, "shards": list(shards)}
        self._run = instance.create_run_for_job(
            definition,
            run_id=self.run_id,
            run_config=QUIET | {"ops": {compute_share.name: {"config": config}}},
            tags={**definition.run_tags, **OWN_PROCESS, COLLECTION_TAG: collection, ORDER_TAG: order},
            remote_job_origin=repository.get_job_origin(definition.name),
            job_code_origin=_code_of(definition.name),
        )
        self._launch()

    def _launch(self) -> None:
        starting = DagsterEvent(event_type_value=DagsterEventType.PIPELINE_STARTING.value, job_name=self._run.job_name)
        self._instance.report_dagster_event(starting, run_id=self.run_id)
        try:
            # Only launchers that ask a code server need the workspace; those of Celery and Kubernetes use the run's
            # origin.
            with warnings.catch_warnings(action="ignore"):  # Celery's launcher registers its task at each launch
                self._instance.run_launcher.launch_run(LaunchRunContext(self._reload(), workspace=None))
        except Exception as error:
            self._instance.report_run_failed(self._run, "It could not be launched.")
            raise IndexBuildError(
                f"The run launcher of dagster.yaml could not launch a run: {type(error).__name__} {error}.",
                "See docs/deploy.md, or set runs.workers to 0.",
            ) from error

    def look(self, beat: str | None, lease_seconds: float, start_seconds: float) -> Fate:
        """The state of the run. `beat` is the worker's last heartbeat."""
        status, now = self._reload().status, time.monotonic()
        if status == dg.DagsterRunStatus.SUCCESS:
            return "done"
        if status in (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED):
            return "failed"
        begun = beat is not None or status not in BEGINNING
        if beat != self._beat or begun != self._begun:
            self._beat, self._begun, self._since = beat, begun, now
        if not begun:
            return "not begun" if now - self._since > start_seconds else "running"
        # Between the first event of a run and its first heartbeat the worker loads Monjyu's code.
        patience = lease_seconds if beat is not None else start_seconds
        return "died" if now - self._since > patience or self._is_known_dead() else "running"

    def give_up(self, why: str) -> None:
        """Mark the run as failed in Dagster. A worker drops it later; results of one that continues are ignored."""
        if not self._reload().is_finished:
            self._instance.report_run_failed(self._run, why)
            with suppress(Exception):  # the launcher may not know it, or not reach its worker
                self._instance.run_launcher.terminate(self.run_id)

    def cause(self) -> str:
        """The innermost error of a failed run, from its log."""
        for entry in self._instance.all_logs(self.run_id, of_type=DagsterEventType.STEP_FAILURE):
            data = entry.dagster_event.step_failure_data if entry.dagster_event else None
            error = data.error if data else None
            while error is not None and error.cause is not None:
                error = error.cause
            if error is not None:
                return error.message.strip()
        return "see its log in the Dagster UI"

    def _reload(self) -> dg.DagsterRun:
        run = self._instance.get_run_by_id(self.run_id)
        if run is None:
            raise IndexBuildError(f"Run {self.run_id} vanished from Dagster's storage.", "Run the command again.")
        return run

    def _is_known_dead(self) -> bool:
        launcher = self._instance.run_launcher
        if not launcher.supports_check_run_worker_health:
            return False
        return launcher.check_run_worker_health(self._reload()).status == WorkerStatus.FAILED


def _code_of(job: str) -> JobPythonOrigin:
    """The location of the job for a worker, which is its own installation of this package."""
    return JobPythonOrigin(
        job,
        RepositoryPythonOrigin(
            executable_path=sys.executable,
            code_pointer=ModuleCodePointer(worker_job.__name__, "worker_definitions"),
            entry_point=DEFAULT_DAGSTER_ENTRY_POINT,
        ),
    )


LOOK = 0.5
"""Seconds between two checks of the runs."""
TRIES = 5
"""The number of consecutive runs of a group that began but delivered no shard, after which the build fails."""
_TOLD = {"died": "died", "not begun": "did not begin", "failed": "failed"}
PHRASES = "noun_phrases"


def share_with_workers(context: dg.AssetExecutionContext, work: Work, asset: str) -> None:
    """Distribute the asset's pending work to run workers if they are set up; its stage then finds everything up to
    date. Workers parse in one round, then chunk, embed and extract phrases in a second one. A small number of papers is
    computed locally. Raises IndexBuildError if a group fails repeatedly, or a worker has other code or settings.
    """
    if asset not in ("parsed_papers", "chunks") or not goes_to_workers(work.settings):
        return
    origin = context.run.remote_job_origin
    repository = origin.repository_origin if origin else repository_origin()
    if asset == "parsed_papers":
        _parse(context.instance, work, repository)
    else:
        _cut(context.instance, work, repository, phrases=dg.AssetKey(PHRASES) in assets_of_run(context))


def goes_to_workers(settings: Settings) -> bool:
    """Whether papers are computed on run workers. They are not if that calls external services, whose caps, rates,
    ledger and caches are on one machine."""
    asks = settings.embedding.remote is not None or bool(analysed_types(settings))
    return settings.runs.workers > 0 and not asks


def _parse(instance: dg.DagsterInstance, work: Work, repository: RemoteRepositoryOrigin) -> None:
    recipes = {name: recipe for name, recipe in paper_recipes(work, 0).items() if name == "parsed_papers"}
    corrections = corrections_for(work)
    stale = {*stale_shards_of(work, "parsed_papers", recipes["parsed_papers"])}
    stale |= {
        shard
        for shard in SHARDS
        if any(rests_on_other(work, bucket, corrections) for bucket in work.parts.buckets(shard))
    }
    shards = sorted(stale, key=SHARDS.index)
    unparsed = {shard: keep_sources(work, shard) for shard in shards}
    unreadable = tuple(shard for shard, found in unparsed.items() if found.unreadable)
    if unreadable:
        list(parse_shards(work, unreadable))  # so that failures state what this machine sees
    if sum(found.papers for found in unparsed.values()) >= max(1, work.settings.runs.least_papers):
        _Workers(instance, work, repository).run(shards, ["parsed_papers"], ["paper_manifest"], unparsed)
        _check_same(work, recipes, shards)


def _cut(instance: dg.DagsterInstance, work: Work, repository: RemoteRepositoryOrigin, *, phrases: bool) -> None:
    settle_model(work)  # depends on the languages of all papers
    recipes = {name: recipe for name, recipe in paper_recipes(work, int(phrases)).items() if name != "parsed_papers"}
    stale = {shard for name, recipe in recipes.items() for shard in stale_shards_of(work, name, recipe)}
    shards = sorted(stale, key=SHARDS.index)
    buckets = [bucket for shard in shards for bucket in work.parts.buckets(shard)]
    papers = sum(unchunked_papers(work, bucket, recipes["chunks"]) for bucket in buckets)
    few = papers < max(1, work.settings.runs.least_papers) and not _of_all_papers(work, recipes)
    if shards and not few:
        _Workers(instance, work, repository).run(shards, list(recipes), ["parsed_papers"], {})
        _check_same(work, recipes, shards)


def _of_all_papers(work: Work, recipes: Mapping[str, str]) -> bool:
    """Whether existing papers are all recomputed, because code, settings or models changed."""
    return bool(built_otherwise(work, recipes, SHARDS)) and bool(work.parts.heads("papers"))


def _check_same(work: Work, recipes: Mapping[str, str], shards: Sequence[str]) -> None:
    if other := built_otherwise(work, recipes, shards):
        raise IndexBuildError(
            f"Run workers have a different version of Monjyu or different settings than this machine: {other}.",
            "Give all of them the same image and the same monjyu.yaml, and run the command again.",
        )


@dataclass
class _Group:
    """The shards that one worker computes in a run."""

    shards: tuple[str, ...]
    tries: int = 0
    gave: bool = False
    """Whether the current run has delivered anything."""


class _Workers:
    """Launches runs for groups of shards until all groups are finished."""

    def __init__(self, instance: dg.DagsterInstance, work: Work, repository: RemoteRepositoryOrigin) -> None:
        settings = load_settings()
        objects, hold = open_objects(settings), own_lock(work.folder)
        if objects is None or hold is None:
            raise ConfigurationError(
                "runs.workers needs storage.uri, because workers share only the object store.",
                "Set storage.uri, or set runs.workers to 0.",
            )
        self._instance = instance
        self._work = work
        self._repository = repository
        self._settings = settings
        self._orders = GivenOrders(objects, work.folder, hold)
        self._running: dict[str, tuple[_Group, LaunchedRun]] = {}
        self._taken: dict[str, float] = {}
        """The time at which results of a run were last taken, by run id."""

    def run(
        self, shards: Sequence[str], assets: Sequence[str], rests_on: Sequence[str], unparsed: Mapping[str, Unparsed]
    ) -> None:
        order = self._order(assets, rests_on, unparsed)
        waiting = deque(_Group(group) for group in self._groups(shards))
        total, done = len(waiting), 0
        try:
            while waiting or self._running:
                while waiting and len(self._running) < self._settings.runs.workers:
                    self._launch(waiting.popleft(), order)
                time.sleep(LOOK)
                waiting.extend(self._ended())
                if (now := total - len(waiting) - len(self._running)) > done:
                    done = now
                    self._work.progress("workers", done, total)
        finally:
            for _, run in self._running.values():
                run.give_up("The run that ordered it has ended.")
            self._running.clear()

    def _order(self, assets: Sequence[str], rests_on: Sequence[str], unparsed: Mapping[str, Unparsed]) -> str:
        documents = {path for found in unparsed.values() for path in found.documents}
        order = Order(
            token=self._orders.token,
            record=self._work.record,
            yaml=collection_yaml_text(self._work.record),
            corrections=corrections_for(self._work) if unparsed else {},
            assets=list(assets),
            rests_on=list(rests_on),
            files={shard: found.files for shard, found in unparsed.items()},
            documents={path: self._orders.upload(Path(path)) for path in sorted(documents)},
        )
        return self._orders.give(order)

    def _groups(self, shards: Sequence[str]) -> list[tuple[str, ...]]:
        """Groups of `runs.shards_per_run` shards; if that is 0, about one group per worker."""
        most = self._settings.runs.shards_per_run or ceil(len(shards) / self._settings.runs.workers)
        ordered = sorted(shards, key=SHARDS.index)
        return [tuple(ordered[start : start + most]) for start in range(0, len(ordered), most)]

    def _launch(self, group: _Group, order: str) -> None:
        run = LaunchedRun(self._instance, self._work.name, group.shards, order, self._repository)
        self._running[run.run_id] = (group, run)

    def _ended(self) -> Iterator[_Group]:
        """Yield the groups whose run has ended without finishing them. Raises IndexBuildError after `TRIES` runs."""
        for run_id, (group, run) in list(self._running.items()):
            storage, runs = self._settings.storage, self._settings.runs
            fate = run.look(self._orders.beat(run_id), storage.lease_seconds, runs.start_seconds)
            if fate == "running":
                self._take_meanwhile(run_id, group)
                continue
            if fate in ("died", "not begun"):
                run.give_up(f"The run worker has {fate}; another one takes over.")
            del self._running[run_id]
            group.gave |= self._orders.take_results(run_id) > 0
            if fate != "done":
                self._work.warn(f"A run worker for shards {', '.join(group.shards)} {_TOLD[fate]}.")
                if not group.gave and fate != "not begun":
                    group.tries += 1
                if group.tries >= TRIES:
                    raise IndexBuildError(f"{TRIES} runs of a group failed in a row: {run.cause()}", "See their logs.")
                if group.gave:
                    group.tries, group.gave = 0, False
                yield group

    def _take_meanwhile(self, run_id: str, group: _Group) -> None:
        """Adopt a run's results from time to time, so that they are not lost if this command ends."""
        now = time.monotonic()
        if now - self._taken.setdefault(run_id, now) > self._settings.storage.lease_seconds:
            group.gave |= self._orders.take_results(run_id) > 0
            self._taken[run_id] = time.monotonic()
