"""Asset `claims`: what each chunk asserts."""

import dagster as dg

from monjyu_assets.orchestration.asset_base import shard_asset_arguments
from monjyu_assets.orchestration.assets.chunks import chunks
from monjyu_assets.orchestration.assets.parsed_papers import parsed_papers
from monjyu_assets.orchestration.resources import DataFolderResource, ModelGateway
from monjyu_assets.orchestration.results import MaterializedAndChecked
from monjyu_assets.orchestration.shard_run import run_stage
from monjyu_assets.stages.claims import CODE_VERSION, claim_shards


@dg.asset(
    **shard_asset_arguments("claims", CODE_VERSION, {"parquet", "python"}),
    deps=[parsed_papers, chunks],
    description="Claims of each chunk with subject, statement, the sentence they are quoted from, kind and confidence, "
    "and their vectors, by the engine of `roles.extract`. A quote that is not in the chunk is dropped and counted.",
)
def claims(context: dg.AssetExecutionContext, data: DataFolderResource, models: ModelGateway) -> MaterializedAndChecked:
    yield from run_stage(context, data, claim_shards, models)
