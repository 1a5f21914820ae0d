"""Asset `paper_manifest`: which papers a collection holds, by id and content hash."""

from collections.abc import Iterable

import dagster as dg

from monjyu_assets.orchestration.asset_base import shard_asset_arguments
from monjyu_assets.orchestration.assets.surroundings import papers_folder
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.results import MaterializedAndChecked
from monjyu_assets.orchestration.shard_run import run_stage
from monjyu_assets.stages.paper_manifest import CODE_VERSION, write_manifest
from monjyu_assets.stages.shared.work import ShardReport, Work

ALLOW_DELETES_TAG = "monjyu/allow_deletes"


@dg.asset(
    **shard_asset_arguments("paper_manifest", CODE_VERSION, {"parquet", "file"}),
    deps=[papers_folder],
    description="The papers of a collection: stable id, content hash, type, place. Made by scanning its sources; "
    f"a scan that would delete much stops unless the run has the tag `{ALLOW_DELETES_TAG}: true`.",
)
def paper_manifest(context: dg.AssetExecutionContext, data: DataFolderResource) -> MaterializedAndChecked:
    allow = context.run.tags.get(ALLOW_DELETES_TAG) == "true"

    def stage(work: Work, shards: tuple[str, ...]) -> Iterable[ShardReport]:
        return write_manifest(work, shards, allow_deletes=allow)

    yield from run_stage(context, data, stage)
