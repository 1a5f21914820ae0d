"""Asset `chunk_embeddings`: a vector for every chunk."""

import dagster as dg

from monjyu_assets.orchestration.asset_base import shard_asset_arguments
from monjyu_assets.orchestration.assets.chunks import chunks
from monjyu_assets.orchestration.resources import DataFolderResource, ModelGateway
from monjyu_assets.orchestration.results import MaterializedAndChecked
from monjyu_assets.orchestration.shard_run import run_stage
from monjyu_assets.stages.chunk_embeddings import CODE_VERSION, embed_shards


@dg.asset(
    **shard_asset_arguments("chunk_embeddings", CODE_VERSION, {"parquet", "openvino"}),
    deps=[chunks],
    description="Vectors of header and text, of length one. A text that has a vector in the collection keeps it; "
    "the data version is that of the inputs and the model.",
)
def chunk_embeddings(
    context: dg.AssetExecutionContext, data: DataFolderResource, models: ModelGateway
) -> MaterializedAndChecked:
    yield from run_stage(context, data, embed_shards, models)
