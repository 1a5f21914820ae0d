"""The jobs: a Dagster job takes assets of one partition definition, so a level has one job for shards and one for the
rest.

A collection's job includes the levels below. So one snapshot is published of all, and readers never fall back to a
lower level while a collection is updated.
"""

from __future__ import annotations

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from monjyu_assets.orchestration.assets.index_snapshot import (
    ALL_ASSETS,
    COLLECTION_ASSETS_BY_LEVEL,
    PAPER_ASSETS_BY_LEVEL,
    index_snapshot,
)
from monjyu_assets.orchestration.assets.saved_answers import saved_answers
from monjyu_assets.orchestration.automation.freshness import snapshot_fresh
from monjyu_assets.orchestration.resources import DataFolderResource, resources_of
from monjyu_assets.orchestration.telling.code_places import with_code_places

INTERNAL = {"monjyu/internal": "true"}
"""On the jobs that others run: a person starts `level_N` (orchestration/launchpad) or `reindex`."""
_PAPERS = {
    0: "scan, parse, chunk, embed",
    1: "noun phrases",
    2: "entities and relationships of chunks (by the engine of roles.extract)",
    4: "claims of chunks (by the engine of roles.extract)",
}
_COLLECTION = {
    0: "files of one paper, citations",
    1: "noun graph and communities",
    2: "entity graph and its communities",
    3: "reports of communities (by the engine of roles.report)",
}


def _papers(level: int) -> UnresolvedAssetJobDefinition:
    return dg.define_asset_job(
        f"step_level_{level}_papers",
        dg.AssetSelection.assets(*PAPER_ASSETS_BY_LEVEL[level]),
        tags=INTERNAL,
        description=f"Internal, a part of the job level_{level}. Level {level} of a collection's papers: "
        f"{_PAPERS[level]}. Only what changed is computed.",
    )


def _tables(level: int) -> UnresolvedAssetJobDefinition:
    """The job without the snapshot, for higher levels that build on this one: only whole levels are published."""
    return dg.define_asset_job(
        f"step_level_{level}_tables",
        dg.AssetSelection.assets(*_assets(level)),
        tags=INTERNAL,
        description=f"Internal, a part of the jobs above level_{level}. Levels 0 to {level} of a whole collection "
        "without publishing: what higher levels are made from.",
    )


def _assets(level: int) -> list[dg.AssetsDefinition]:
    return [asset for one in range(level + 1) for asset in COLLECTION_ASSETS_BY_LEVEL[one]]


def _collection(level: int) -> UnresolvedAssetJobDefinition:
    return dg.define_asset_job(
        f"step_level_{level}_collection",
        dg.AssetSelection.assets(*_assets(level), index_snapshot),
        tags=INTERNAL,
        description=f"Internal, the end of the job level_{level}. Levels 0 to {level} of a whole collection: "
        f"{'; '.join(list(_COLLECTION.values())[: level + 1])}; "
        "and the published snapshot.",
    )


JOBS = [
    *(_papers(level) for level in _PAPERS),
    *(_tables(level) for level in (1, 2, 3)),
    *(_collection(level) for level in COLLECTION_ASSETS_BY_LEVEL),
]

levels = dg.Definitions(
    assets=with_code_places([*ALL_ASSETS, index_snapshot, saved_answers]),
    asset_checks=[snapshot_fresh],
    jobs=JOBS,
    resources=resources_of(DataFolderResource.configure_at_launch()),
    executor=dg.in_process_executor,
)
"""The definitions without automation: the commands run these jobs, and `reindex` runs the commands' code."""
