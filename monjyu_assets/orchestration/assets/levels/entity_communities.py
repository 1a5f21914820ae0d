"""Asset `entity_communities`: the entity graph in communities, from coarse to fine."""

import dagster as dg

from monjyu_assets.orchestration.asset_base import collection_asset_arguments, collection_run
from monjyu_assets.orchestration.assets.levels.entity_graph import entity_graph
from monjyu_assets.orchestration.checks.graph_checks import ENTITY_COMMUNITY_CHECKS, check_results, check_specs
from monjyu_assets.orchestration.plots import histogram
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.results import MaterializedAndChecked
from monjyu_assets.stages.entity_communities import CODE_VERSION, find_entity_communities


@dg.asset(
    **collection_asset_arguments("entity_communities", CODE_VERSION, {"parquet", "python"}),
    deps=[entity_graph],
    check_specs=check_specs("entity_communities", ENTITY_COMMUNITY_CHECKS),
    description="Hierarchical Leiden over the entity graph; what is larger than `levels.entities.max_community_size` "
    "is split again until none is. Ids come from level and members. No model is called.",
)
def entity_communities(context: dg.AssetExecutionContext, data: DataFolderResource) -> MaterializedAndChecked:
    with collection_run(context, data) as run:
        report = find_entity_communities(run.work)
        sizes = report.part.read(["level", "size"])
        levels = sizes["level"].value_counts().to_pylist()
        yield dg.MaterializeResult(
            data_version=dg.DataVersion(report.part.asset_version),
            metadata=run.metadata(report)
            | {
                "communities": report.part.rows,
                "levels": dg.MetadataValue.json({str(row["values"]): row["counts"] for row in levels}),
                "sizes": dg.MetadataValue.md(histogram(sizes["size"].to_pylist(), "entities", "communities")),
            },
        )
        yield from check_results(run.work, ENTITY_COMMUNITY_CHECKS)
