"""The jobs that build: one a level, whose steps are the assets up to it and `index_snapshot`."""

from __future__ import annotations

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from monjyu_assets.orchestration.assets.index_snapshot import ASSETS_BY_LEVEL, index_snapshot
from monjyu_assets.orchestration.assets.saved_answers import saved_answers
from monjyu_assets.orchestration.code_location import with_code_references
from monjyu_assets.orchestration.freshness import snapshot_fresh
from monjyu_assets.orchestration.resources import DataFolderResource, resources_of
from monjyu_assets.work.closed_set import HIGHEST

ADDED = (
    "papers, chunks, vectors and citations",
    "noun phrases, their graph and its communities",
    "entities, relationships and their communities",
    "reports on these communities",
    "claims",
)
"""What each level adds."""


def assets_up_to(level: int) -> list[dg.AssetsDefinition]:
    return [asset for one in range(level + 1) for asset in ASSETS_BY_LEVEL[one]]


def assets_of_level(level: int) -> dg.AssetSelection:
    """The assets up to the level and `index_snapshot`, with their own checks: `snapshot_fresh` looks at the sources."""
    assets = dg.AssetSelection.assets(*assets_up_to(level), index_snapshot)
    return assets - dg.AssetSelection.checks(snapshot_fresh)


def level_job(level: int) -> UnresolvedAssetJobDefinition:
    return dg.define_asset_job(
        f"level_{level}",
        assets_of_level(level),
        executor_def=dg.in_process_executor,
        description=f"Build a collection up to level {level} and publish it: {'; '.join(ADDED[: level + 1])}. Only "
        "what changed is computed. Choose the collection as the partition. *Add a partition* names a new collection: "
        "its papers are in papers/NAME, or in the folders that `resources: build: config: sources` lists.",
    )


LEVEL_JOBS = [level_job(level) for level in range(HIGHEST + 1)]

assets_and_jobs = dg.Definitions(
    assets=with_code_references([*assets_up_to(HIGHEST), index_snapshot, saved_answers]),
    asset_checks=[snapshot_fresh],
    jobs=LEVEL_JOBS,
    resources=resources_of(DataFolderResource.configure_at_launch()),
    executor=dg.in_process_executor,
)
"""The definitions without automation: the commands run these jobs."""
