"""Asset `citation_network`: who cites whom within a collection, and the references that lead out of it."""

import dagster as dg

from monjyu_assets.orchestration.asset_base import collection_asset_arguments, collection_run
from monjyu_assets.orchestration.assets.paper_identity import paper_identity
from monjyu_assets.orchestration.assets.parsed_papers import parsed_papers
from monjyu_assets.orchestration.plots import histogram
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.results import Materialized, Metadata
from monjyu_assets.stages.citation_network import CODE_VERSION, build_network
from monjyu_assets.stages.shared.collection_stage import whole_table
from monjyu_assets.stages.shared.work import Work
from monjyu_core.storage.parts import Part


@dg.asset(
    **collection_asset_arguments("citation_network", CODE_VERSION, {"parquet", "duckdb"}),
    deps=[parsed_papers, paper_identity],
    description="References resolved inside the collection (DOI, arXiv id, then title with first author and year) as "
    "edges with their contexts; the others with an id of the work they name.",
)
def citation_network(context: dg.AssetExecutionContext, data: DataFolderResource) -> Materialized:
    with collection_run(context, data) as run:
        report = build_network(run.work)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(report.part.asset_version),
            metadata=run.metadata(report) | network_metadata(run.work, report.part),
        )


def network_metadata(work: Work, edges: Part) -> Metadata:
    """Counts, the share of references resolved, and how often papers are cited."""
    table = edges.read(["cited_id", "method"])
    methods = {entry["values"]: entry["counts"] for entry in table["method"].value_counts().to_pylist()}
    cited = [entry["counts"] for entry in table["cited_id"].value_counts().to_pylist()]
    unresolved = sum(part.rows for part in work.parts.heads("unresolved_references"))
    references = whole_table(work, "references", ["paper_id"]).num_rows
    return {
        "edges": edges.rows,
        "references": references,
        "unresolved_references": unresolved,
        "resolved_share": round(1 - unresolved / references, 4) if references else 0.0,
        "methods": dg.MetadataValue.json(methods),
        "times_cited": dg.MetadataValue.md(histogram(cited, "times cited in the collection", "papers")),
    }
