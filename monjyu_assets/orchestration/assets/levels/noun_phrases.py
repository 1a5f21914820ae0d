"""Asset `noun_phrases`: the phrases of each chunk."""

import dagster as dg

from monjyu_assets.orchestration.asset_base import shard_asset_arguments
from monjyu_assets.orchestration.assets.chunks import chunks
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.results import MaterializedAndChecked
from monjyu_assets.orchestration.shard_run import run_stage
from monjyu_assets.stages.noun_phrases import CODE_VERSION, phrase_shards


@dg.asset(
    **shard_asset_arguments("noun_phrases", CODE_VERSION, {"parquet", "python"}),
    deps=[chunks],
    description="Noun phrases of each chunk (spaCy; SudachiPy for Japanese), heads lemmatised, acronyms spelt out as "
    "their paper defines them; without citations, formulas and boilerplate. No model is called.",
)
def noun_phrases(context: dg.AssetExecutionContext, data: DataFolderResource) -> MaterializedAndChecked:
    yield from run_stage(context, data, phrase_shards)
