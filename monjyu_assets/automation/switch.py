"""Sets the state of sensors and schedules in Dagster's instance, as the UI does, and the limits of pools, for `monjyu
automation`.

Dagster's own command would load all code in another process. The state needs only names, so it is set directly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from monjyu_assets.orchestration.instance import repository_origin
from monjyu_assets.work.closed_set import FAILURES
from monjyu_core.settings.settings import Settings, load_settings

if TYPE_CHECKING:
    from dagster import DagsterInstance
    from dagster._core.remote_origin import RemoteInstigatorOrigin
    from dagster._core.scheduler.instigation import (
        InstigatorState,
        InstigatorStatus,
        ScheduleInstigatorData,
        SensorInstigatorData,
    )

SENSORS = {
    "watch_sources": "builds changed collections",
    "freshness": "evaluates snapshot_fresh for every collection",
}
SCHEDULES = {"nightly": "builds changed collections, even if they failed before", "nightly_tidy": "deletes old runs"}


@dataclass(frozen=True)
class Switched:
    name: str
    what: str
    on: bool


def switch(instance: DagsterInstance, on: bool, names: Iterable[str] = (*SENSORS, *SCHEDULES)) -> None:
    """Turn sensors and schedules on or off, all of them by default."""
    from dagster._core.scheduler.instigation import InstigatorStatus

    status = InstigatorStatus.RUNNING if on else InstigatorStatus.STOPPED
    for name in names:
        _set(instance, name, status)


def switched(instance: DagsterInstance) -> Iterator[Switched]:
    """Yield each sensor and schedule, with its purpose and whether it is on."""
    for name, what in (SENSORS | SCHEDULES).items():
        state = _stored(instance, _origin(name))
        yield Switched(name, what, state is not None and state.is_running)


def _set(instance: DagsterInstance, name: str, status: InstigatorStatus) -> None:
    from dagster._core.definitions.run_request import InstigatorType
    from dagster._core.scheduler.instigation import InstigatorState

    origin = _origin(name)
    stored = _stored(instance, origin)
    if stored is not None:
        instance.update_instigator_state(stored.with_status(status).with_data(_data(name)))
        return
    instigator_type = InstigatorType.SENSOR if name in SENSORS else InstigatorType.SCHEDULE
    instance.add_instigator_state(InstigatorState(origin, instigator_type, status, _data(name)))


def _data(name: str) -> ScheduleInstigatorData | SensorInstigatorData:
    from dagster._core.definitions.sensor_definition import SensorType
    from dagster._core.scheduler.instigation import ScheduleInstigatorData, SensorInstigatorData
    from dagster._time import get_current_timestamp

    settings = load_settings().automation
    if name in SCHEDULES:
        return ScheduleInstigatorData(settings.nightly, get_current_timestamp())
    return SensorInstigatorData(
        min_interval=settings.freshness_seconds if name == "freshness" else settings.interval_seconds,
        last_sensor_start_timestamp=get_current_timestamp(),
        sensor_type=SensorType.STANDARD,
    )


def _stored(instance: DagsterInstance, origin: RemoteInstigatorOrigin) -> InstigatorState | None:
    return instance.get_instigator_state(origin.get_id(), origin.get_selector().get_id())


def _origin(name: str) -> RemoteInstigatorOrigin:
    return repository_origin().get_instigator_origin(name)


def model_pools(settings: Settings) -> list[str]:
    """The pools of assets that may call a model. Each asset has a pool with its name."""
    return [*(["chunk_embeddings"] if settings.embedding.remote else []), *FAILURES]


def set_limits(instance: DagsterInstance, settings: Settings) -> dict[str, int]:
    """Set the limit of each pool whose asset may call a model, and return the limits of all pools."""
    storage = instance.event_log_storage
    for pool in model_pools(settings):
        storage.set_concurrency_slots(pool, settings.runs.runs_calling_models)
    return {pool.name: pool.limit for pool in storage.get_pool_limits()}
