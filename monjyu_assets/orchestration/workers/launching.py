"""One run on another machine: launch it, follow it, and say what became of it."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

import dagster as dg
from dagster._core.code_pointer import ModuleCodePointer
from dagster._core.events import DagsterEvent, DagsterEventType
from dagster._core.launcher import LaunchRunContext, WorkerStatus
from dagster._core.origin import DEFAULT_DAGSTER_ENTRY_POINT, JobPythonOrigin, RepositoryPythonOrigin
from dagster._core.remote_origin import RemoteRepositoryOrigin
from dagster._core.utils import make_new_run_id

from monjyu_assets.orchestration.run_tags import COLLECTION_TAG, ORDER_TAG, OWN_PROCESS, QUIET
from monjyu_assets.orchestration.workers import worker_job
from monjyu_assets.orchestration.workers.worker_job import compute_share, papers_on_worker, worker_definitions
from monjyu_core.errors import IndexBuildError

Fate = Literal["running", "done", "failed", "died", "not begun"]
BEGINNING = (dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.QUEUED)


class LaunchedRun:
    """`died`: its worker has given no sign of life for `lease_seconds`; `not begun`: no worker took it in time."""

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
            # The workspace is for launchers that ask a code server; Celery's and Kubernetes' take the run's own origin.
            with warnings.catch_warnings(action="ignore"):  # Celery's launcher registers its task at each launch
                self._instance.run_launcher.launch_run(LaunchRunContext(self._reload(), workspace=None))
        except Exception as error:
            self._instance.report_run_failed(self._run, "It could not be launched.")
            raise IndexBuildError(
                f"The run launcher of dagster.yaml could not launch a run: {type(error).__name__} {error}.",
                "See docs/deploy.md, or set runs.workers to 0.",
            ) from error

    def look(self, beat: str | None, lease_seconds: float, start_seconds: float) -> Fate:
        """What has become of it. `beat`: the worker's last sign of life."""
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
        # Between the first event of a run and its first asset the worker loads our code.
        patience = lease_seconds if beat is not None else start_seconds
        return "died" if now - self._since > patience or self._is_known_dead() else "running"

    def give_up(self, why: str) -> None:
        """End it in Dagster's books; a worker that takes it later leaves it, one that goes on works in vain."""
        if not self._reload().is_finished:
            self._instance.report_run_failed(self._run, why)
            with suppress(Exception):  # the launcher may not know it, or not reach its worker
                self._instance.run_launcher.terminate(self.run_id)

    def cause(self) -> str:
        """The error of a run that failed, as its log has it."""
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
    """Where a worker finds the job: in its own installation of this package."""
    return JobPythonOrigin(
        job,
        RepositoryPythonOrigin(
            executable_path=sys.executable,
            code_pointer=ModuleCodePointer(worker_job.__name__, "worker_definitions"),
            entry_point=DEFAULT_DAGSTER_ENTRY_POINT,
        ),
    )
