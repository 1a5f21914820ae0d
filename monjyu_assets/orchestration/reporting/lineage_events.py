"""Sends OpenLineage events of assets if `openlineage` is set; otherwise nothing is imported or sent. Building an asset
of a collection is one run: START and COMPLETE, or FAIL. Dagster's run is its parent. Events contain names, counts,
versions and results of checks, never text of papers.
"""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.metadata import version as version_of
from pathlib import Path
from typing import TYPE_CHECKING

from monjyu_assets.work.closed_set import asset_version
from monjyu_assets.work.work import Work
from monjyu_core.errors import ConfigurationError
from monjyu_core.extras import DISTRIBUTION, install_line
from monjyu_core.observability import one_host_session
from monjyu_core.settings.operations import OpenLineageSettings
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD
from monjyu_core.storage.snapshot import read_current

if TYPE_CHECKING:
    import dagster as dg
    from openlineage.client.event_v2 import InputDataset, OutputDataset, RunEvent
    from openlineage.client.facet_v2 import RunFacet
    from openlineage.client.transport.transport import Transport

TIMEOUT_SECONDS = 5.0
PRODUCER = "urn:monjyu"
"""The URI that identifies the producer of an event."""
_log = logging.getLogger(__name__)


@dataclass
class Emitter:
    """Sends events to the destinations of one setting. A failing destination is logged once and receives no further
    events, so that work neither waits for it nor fails because of it."""

    settings: OpenLineageSettings
    data: Path
    transports: list[Transport] = field(init=False)

    def __post_init__(self) -> None:
        try:
            from openlineage.client.transport.file import FileConfig, FileTransport
            from openlineage.client.transport.http import HttpConfig, HttpTransport
        except ImportError as error:
            raise ConfigurationError(
                f"The setting openlineage needs its client, which is not installed ({error.name}).",
                f"Install it: {install_line('openlineage')}.",
            ) from error
        self.transports = []
        if self.settings.file:
            path = self.data / self.settings.file
            path.parent.mkdir(parents=True, exist_ok=True)
            self.transports.append(FileTransport(FileConfig(str(path), append=True)))
        if self.settings.url:
            key = os.environ.get("OPENLINEAGE_API_KEY")
            auth = {"auth": {"type": "api_key", "apiKey": key}} if key else {}
            config = {"url": self.settings.url, "timeout": TIMEOUT_SECONDS, "retry": {"total": 1, "connect": 1}, **auth}
            try:
                transport = HttpTransport(HttpConfig.from_dict(config))
                transport.session = one_host_session()
                self.transports.append(transport)
            except ValueError as error:
                raise ConfigurationError(f"openlineage.url: {error}.", "Give it as http://HOST:PORT.") from error

    def emit(self, event: RunEvent) -> None:
        for transport in list(self.transports):
            try:
                transport.emit(event)
            except Exception as error:  # the network, the disk, or the reply of a catalogue
                self.transports.remove(transport)
                _log.warning("OpenLineage events are no longer sent to %s: %s", transport.kind, type(error).__name__)


def report_built(work: Work, asset: str, seconds: float, checks: Sequence[dg.AssetCheckResult] = ()) -> None:
    """Report that an asset was built for a collection in `seconds`. The results of its checks are reported as a
    separate job, which reads the outputs of the asset's job."""
    if not _is_wanted(work):
        return
    from monjyu_assets.orchestration.reporting.lineage_datasets import SNAPSHOT, Datasets, assertion_of

    datasets = Datasets(work, work.settings.openlineage.namespace)
    made_from = datasets.inputs(asset)
    version = read_current(work.folder) if asset == SNAPSHOT else asset_version(work.parts, asset, COLLECTION_SHARD)
    rows = {table: sum(part.rows for part in work.parts.heads(table)) for table in ASSET_TABLES.get(asset, ())}
    run = _AssetRun(work, asset)
    run.emit("START", seconds_ago=seconds, inputs=made_from)
    run.emit("COMPLETE", inputs=made_from, outputs=datasets.outputs(asset, rows, version))
    if checks:
        checked = datasets.checked([assertion_of(check) for check in checks])
        _AssetRun(work, f"{asset}_checks").emit("COMPLETE", inputs=[checked])


@contextmanager
def failure_reported(work: Work, asset: str) -> Iterator[None]:
    """A context that reports an exception inside it as a failure to build the asset."""
    try:
        yield
    except Exception as error:
        report_failed(work, asset, error)
        raise


def report_failed(work: Work, asset: str, error: BaseException) -> None:
    """Report that an asset failed, with the error's class only: its message may contain text of a paper."""
    if not _is_wanted(work):
        return
    from openlineage.client.facet_v2 import error_message_run

    from monjyu_assets.orchestration.reporting.lineage_datasets import Datasets

    told = error_message_run.ErrorMessageRunFacet(type(error).__name__, "python")
    inputs = Datasets(work, work.settings.openlineage.namespace).inputs(asset)
    _AssetRun(work, asset).emit("FAIL", inputs=inputs, facets={"errorMessage": told})


def _is_wanted(work: Work) -> bool:
    wanted = work.settings.openlineage
    return bool(wanted.url or wanted.file)


class _AssetRun:
    """The OpenLineage run of an asset of a collection. Its id is derived from the Dagster run, collection and asset."""

    def __init__(self, work: Work, asset: str) -> None:
        self.work, self.asset = work, asset
        self.emitter = _emitter(work.settings.openlineage, work.data.root)
        parent = work.run_id or str(uuid.uuid4())
        self.parent, self.run_id = parent, str(uuid.uuid5(uuid.UUID(parent), f"{work.name}/{asset}"))

    def emit(
        self,
        state: str,
        *,
        seconds_ago: float = 0.0,
        inputs: list[InputDataset],
        outputs: list[OutputDataset] | None = None,
        facets: dict[str, RunFacet] | None = None,
    ) -> None:
        from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
        from openlineage.client.facet_v2 import parent_run, processing_engine_run

        namespace = self.work.settings.openlineage.namespace
        whole = parent_run.ParentRunFacet(
            run=parent_run.Run(runId=self.parent), job=parent_run.Job(namespace=namespace, name=self.work.name)
        )
        engine = processing_engine_run.ProcessingEngineRunFacet(
            version=version_of("dagster"), name="Dagster", openlineageAdapterVersion=version_of(DISTRIBUTION)
        )
        event = RunEvent(
            eventTime=(datetime.now(UTC) - timedelta(seconds=seconds_ago)).isoformat(),
            producer=PRODUCER,
            eventType=RunState[state],
            run=Run(runId=self.run_id, facets={"parent": whole, "processing_engine": engine, **(facets or {})}),
            job=Job(namespace=namespace, name=f"{self.work.name}.{self.asset}"),
            inputs=inputs,
            outputs=outputs or [],
        )
        self.emitter.emit(event)


_emitters: dict[tuple[str, Path], Emitter] = {}


def _emitter(settings: OpenLineageSettings, data: Path) -> Emitter:
    """The emitter of a setting. There is one per process, so that failing destinations are remembered."""
    key = (settings.model_dump_json(), data)
    if key not in _emitters:
        _emitters[key] = Emitter(settings, data)
    return _emitters[key]
