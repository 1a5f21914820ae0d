"""Asset `chunks`: passages for retrieval, and the sentences each is made of."""

import dagster as dg

from monjyu_assets.orchestration.asset_base import shard_asset_arguments
from monjyu_assets.orchestration.assets.parsed_papers import parsed_papers
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.results import MaterializedAndChecked
from monjyu_assets.orchestration.shard_run import run_stage
from monjyu_assets.stages.chunks import CODE_VERSION, chunk_shards


@dg.asset(
    **shard_asset_arguments("chunks", CODE_VERSION, {"parquet", "python"}),
    deps=[parsed_papers],
    description="Passages, each of one section, made as `chunking.strategy` says (section, fixed, sentence, paragraph, "
    "semantic); each fits the window of the embedding model together with its header (paper title > section).",
)
def chunks(context: dg.AssetExecutionContext, data: DataFolderResource) -> MaterializedAndChecked:
    yield from run_stage(context, data, chunk_shards)
