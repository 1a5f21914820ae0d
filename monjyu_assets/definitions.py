"""What Dagster loads: assets, checks, jobs, what starts them by itself, and the data folder."""

from __future__ import annotations

import dagster as dg

from monjyu_assets.orchestration.assets.index_snapshot import ALL_ASSETS, index_snapshot
from monjyu_assets.orchestration.automation.freshness import freshness, snapshot_fresh
from monjyu_assets.orchestration.automation.reindex import reindex
from monjyu_assets.orchestration.automation.schedules import nightly
from monjyu_assets.orchestration.automation.sensor import follow_changes, watch_sources
from monjyu_assets.orchestration.jobs import JOBS
from monjyu_assets.orchestration.resources import DataFolderResource

defs = dg.Definitions(
    assets=[*ALL_ASSETS, index_snapshot],
    asset_checks=[snapshot_fresh],
    jobs=[*JOBS, reindex],
    sensors=[watch_sources, follow_changes, freshness],
    schedules=[nightly],
    resources={"data": DataFolderResource()},
    executor=dg.in_process_executor,
)
