"""Asset `entity_graph`: the entities of a collection and their relationships."""

import dagster as dg

from monjyu_assets.orchestration.asset_base import collection_asset_arguments, collection_run
from monjyu_assets.orchestration.assets.levels.extracted_entities import extracted_entities
from monjyu_assets.orchestration.assets.paper_identity import paper_identity
from monjyu_assets.orchestration.assets.parsed_papers import parsed_papers
from monjyu_assets.orchestration.checks.graph_checks import ENTITY_CHECKS, check_results, check_specs
from monjyu_assets.orchestration.plots import histogram
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.results import MaterializedAndChecked, Metadata
from monjyu_assets.stages.entity_graph import CODE_VERSION, build_entity_graph
from monjyu_assets.stages.shared.work import Work
from monjyu_core.storage.parts import Part


@dg.asset(
    **collection_asset_arguments("entity_graph", CODE_VERSION, {"parquet", "python"}),
    deps=[extracted_entities, parsed_papers, paper_identity],
    check_specs=check_specs("entity_graph", ENTITY_CHECKS),
    description="Mentions merged to entities by normalised name, acronym, initials and external ids, never across "
    "types; relationships with weights summed over their mentions. Files of one paper count once. No model is called.",
)
def entity_graph(context: dg.AssetExecutionContext, data: DataFolderResource) -> MaterializedAndChecked:
    with collection_run(context, data) as run:
        report = build_entity_graph(run.work)
        yield dg.MaterializeResult(
            data_version=dg.DataVersion(report.part.asset_version),
            metadata=run.metadata(report) | entity_metadata(run.work, report.part),
        )
        yield from check_results(run.work, ENTITY_CHECKS)


def entity_metadata(work: Work, entities: Part) -> Metadata:
    """Sizes, types and degrees, but no names: the log outlives a purge."""
    table = entities.read(["type", "degree"])
    kinds = table["type"].value_counts().to_pylist()
    degrees = table["degree"].to_pylist()
    return {
        "entities": entities.rows,
        "relationships": sum(part.rows for part in work.parts.heads("relationships")),
        "alone": degrees.count(0),
        "types": dg.MetadataValue.json({row["values"]: row["counts"] for row in kinds}),
        "degrees": dg.MetadataValue.md(histogram(degrees, "degree", "entities")),
    }
