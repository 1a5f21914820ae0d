"""What Dagster loads: assets, checks, jobs and the data folder."""

from __future__ import annotations

import warnings

import dagster as dg

# Partitioned checks are marked as preview; they are pinned with Dagster's version and tested.
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

from monjyu_assets.assets.index_snapshot import UPSTREAM, index_snapshot  # noqa: E402
from monjyu_assets.jobs import JOBS  # noqa: E402
from monjyu_assets.resources import DataFolderResource  # noqa: E402

defs = dg.Definitions(
    assets=[*UPSTREAM, index_snapshot],
    jobs=JOBS,
    resources={"data": DataFolderResource()},
    executor=dg.in_process_executor,
)
