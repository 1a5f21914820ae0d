"""What Dagster loads: assets, checks, jobs and the data folder."""

from __future__ import annotations

import dagster as dg

from monjyu_assets.assets.index_snapshot import ALL_ASSETS, index_snapshot
from monjyu_assets.jobs import JOBS
from monjyu_assets.resources import DataFolderResource

defs = dg.Definitions(
    assets=[*ALL_ASSETS, index_snapshot],
    jobs=JOBS,
    resources={"data": DataFolderResource()},
    executor=dg.in_process_executor,
)
