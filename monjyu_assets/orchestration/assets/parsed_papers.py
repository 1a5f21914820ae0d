"""Asset `parsed_papers`: parsed documents with sections, sentences and references."""

import dagster as dg

from monjyu_assets.orchestration.asset_base import shard_asset_arguments
from monjyu_assets.orchestration.assets.paper_manifest import paper_manifest
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.results import MaterializedAndChecked
from monjyu_assets.orchestration.shard_run import run_stage
from monjyu_assets.parsing.dispatch import PARSER_VERSION
from monjyu_assets.stages.parsed_papers import parse_shards


@dg.asset(
    **shard_asset_arguments("parsed_papers", PARSER_VERSION, {"parquet", "python"}),
    deps=[paper_manifest],
    description="Papers, authors, sections, sentences with their rectangles on the page, references, citations, "
    "tables, figures, equations. A document that cannot be read is a row in `failures`, and the shard succeeds.",
)
def parsed_papers(context: dg.AssetExecutionContext, data: DataFolderResource) -> MaterializedAndChecked:
    yield from run_stage(context, data, parse_shards)
