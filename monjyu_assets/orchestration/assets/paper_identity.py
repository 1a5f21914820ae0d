"""Asset `paper_identity`: which files of a collection are the same paper."""

import dagster as dg

from monjyu_assets.orchestration.asset_base import collection_asset_arguments, collection_run
from monjyu_assets.orchestration.assets.parsed_papers import parsed_papers
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.results import Materialized
from monjyu_assets.stages.paper_identity import CODE_VERSION, find_identities


@dg.asset(
    **collection_asset_arguments("paper_identity", CODE_VERSION, {"parquet", "duckdb"}),
    deps=[parsed_papers],
    description="Files of one paper (same DOI, same arXiv id, or near-equal title and authors) and the one that stands "
    "for them in counts, citations and search. Each file keeps its paper_id.",
)
def paper_identity(context: dg.AssetExecutionContext, data: DataFolderResource) -> Materialized:
    with collection_run(context, data) as run:
        report = find_identities(run.work)
        reasons = report.part.read(["reason"])["reason"].value_counts().to_pylist()
        counts = {entry["values"]: entry["counts"] for entry in reasons}
        return dg.MaterializeResult(
            data_version=dg.DataVersion(report.part.asset_version),
            metadata=run.metadata(report)
            | {
                "distinct_papers": counts.get("only", 0) + counts.get("canonical", 0),
                "reasons": dg.MetadataValue.json(counts),
            },
        )
