"""Asset `extracted_entities`: entities and relationships of each chunk."""

import dagster as dg

from monjyu_assets.orchestration.asset_base import shard_asset_arguments
from monjyu_assets.orchestration.assets.chunks import chunks
from monjyu_assets.orchestration.assets.levels.noun_graph import noun_graph
from monjyu_assets.orchestration.assets.parsed_papers import parsed_papers
from monjyu_assets.orchestration.resources import DataFolderResource, ModelGateway
from monjyu_assets.orchestration.results import MaterializedAndChecked
from monjyu_assets.orchestration.shard_run import run_stage
from monjyu_assets.stages.extracted_entities import CODE_VERSION, extract_shards


@dg.asset(
    **shard_asset_arguments("extracted_entities", CODE_VERSION, {"parquet", "python"}),
    deps=[parsed_papers, chunks, noun_graph],
    description="Researchers, organizations, methods, models, datasets, metrics, tasks, concepts, tools and papers of "
    "each chunk, and what sentences say between them, by the engine of `roles.extract`. A chunk that an engine could "
    "not do is a row in `entity_failures`. `levels.entities.extract_share` takes the most central chunks only.",
)
def extracted_entities(
    context: dg.AssetExecutionContext, data: DataFolderResource, models: ModelGateway
) -> MaterializedAndChecked:
    yield from run_stage(context, data, extract_shards, models)
