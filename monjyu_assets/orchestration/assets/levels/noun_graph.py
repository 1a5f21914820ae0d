"""Asset `noun_graph`: the phrases of a collection and which of them share chunks."""

import dagster as dg

from monjyu_assets.orchestration.asset_base import collection_asset_arguments, collection_run
from monjyu_assets.orchestration.assets.levels.noun_phrases import noun_phrases
from monjyu_assets.orchestration.assets.paper_identity import paper_identity
from monjyu_assets.orchestration.checks.graph_checks import GRAPH_CHECKS, check_results, check_specs
from monjyu_assets.orchestration.plots import histogram
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.results import MaterializedAndChecked, Metadata
from monjyu_assets.stages.noun_graph import CODE_VERSION, build_noun_graph
from monjyu_assets.stages.shared.work import Work
from monjyu_core.storage.parts import Part

SHOWN = 10


@dg.asset(
    **collection_asset_arguments("noun_graph", CODE_VERSION, {"parquet", "duckdb"}),
    deps=[noun_phrases, paper_identity],
    check_specs=check_specs("noun_graph", GRAPH_CHECKS),
    description="Noun phrases as nodes, those that stand in one chunk joined by an edge of weight p(x,y) log2(p(x,y) / "
    "(p(x) p(y))); rare phrases, hubs and weak edges pruned (settings `graph`). No model is called.",
)
def noun_graph(context: dg.AssetExecutionContext, data: DataFolderResource) -> MaterializedAndChecked:
    with collection_run(context, data) as run:
        report = build_noun_graph(run.work)
        metadata = run.metadata(report) | graph_metadata(run.work, report.part)
        yield dg.MaterializeResult(data_version=dg.DataVersion(report.part.asset_version), metadata=metadata)
        yield from check_results(run.work, GRAPH_CHECKS)


def graph_metadata(work: Work, nodes: Part) -> Metadata:
    """Sizes and degrees. Hubs show degree and document frequency but not their text: the log outlives a purge."""
    table = nodes.read(["phrase", "df", "degree"]).sort_by([("degree", "descending"), ("phrase", "ascending")])
    degrees = table["degree"].to_pylist()
    hubs = table.slice(0, SHOWN).to_pylist()
    lines = ["| degree | chunks |", "| ---: | ---: |", *(f"| {row['degree']} | {row['df']} |" for row in hubs)]
    return {
        "nodes": nodes.rows,
        "edges": sum(part.rows for part in work.parts.heads("graph_edges")),
        "isolates": degrees.count(0),
        "largest_degree": max(degrees, default=0),
        "degrees": dg.MetadataValue.md(histogram(degrees, "degree", "phrases")),
        "hubs": dg.MetadataValue.md("\n".join(lines)),
    }
