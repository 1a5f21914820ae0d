"""What Dagster loads: assets, checks, jobs, what starts them by itself, and the data folder."""

from __future__ import annotations

import dagster as dg

from monjyu_assets.orchestration import jobs
from monjyu_assets.orchestration.assets.surroundings import SURROUNDINGS
from monjyu_assets.orchestration.automation.freshness import freshness, look_at_sources
from monjyu_assets.orchestration.automation.maintenance_jobs import (
    delete_collection,
    release,
    rollback,
    tidy,
    tidy_schedule,
)
from monjyu_assets.orchestration.automation.reindex import reindex
from monjyu_assets.orchestration.automation.schedules import nightly_schedule
from monjyu_assets.orchestration.automation.sensor import follow_changes, watch_sources
from monjyu_assets.orchestration.checks.rebuild_check import verify_rebuild
from monjyu_assets.orchestration.launchpad.level_jobs import LEVEL_JOBS
from monjyu_core.settings.settings import load_settings

defs = dg.Definitions.merge(
    jobs.levels,  # by its module: Dagster and `dg` take one Definitions of a module
    dg.Definitions(
        assets=SURROUNDINGS,
        jobs=[*LEVEL_JOBS, reindex, rollback, release, delete_collection, tidy, verify_rebuild, look_at_sources],
        sensors=[watch_sources, follow_changes, freshness],
        schedules=[nightly_schedule(load_settings().automation), tidy_schedule()],
    ),
)
