"""Asset `scholarly_metadata`: what scholarly services say of a collection's papers."""

import dagster as dg

from monjyu_assets.orchestration.asset_base import collection_asset_arguments, collection_run
from monjyu_assets.orchestration.assets.paper_identity import paper_identity
from monjyu_assets.orchestration.assets.parsed_papers import parsed_papers
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.results import Materialized
from monjyu_assets.stages.scholarly_metadata import CODE_VERSION, find_notices


@dg.asset(
    **collection_asset_arguments("scholarly_metadata", CODE_VERSION, {"parquet", "duckdb"}),
    deps=[parsed_papers, paper_identity],
    description="Retractions, expressions of concern, corrections and reinstatements of the papers, from the files "
    "that scholarly.notices names. Nothing is fetched; without files it is empty.",
)
def scholarly_metadata(context: dg.AssetExecutionContext, data: DataFolderResource) -> Materialized:
    with collection_run(context, data) as run:
        report = find_notices(run.work)
        kinds = report.part.read(["kind"])["kind"].value_counts().to_pylist()
        return dg.MaterializeResult(
            data_version=dg.DataVersion(report.part.asset_version),
            metadata=run.metadata(report)
            | {"notices": dg.MetadataValue.json({entry["values"]: entry["counts"] for entry in kinds})},
        )
