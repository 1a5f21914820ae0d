"""Asset `community_reports`: a report of each community of entities."""

import dagster as dg

from monjyu_assets.orchestration.asset_base import collection_asset_arguments, collection_run, spent
from monjyu_assets.orchestration.assets.levels.entity_communities import entity_communities
from monjyu_assets.orchestration.assets.levels.entity_graph import entity_graph
from monjyu_assets.orchestration.assets.parsed_papers import parsed_papers
from monjyu_assets.orchestration.checks.graph_checks import REPORT_CHECKS, check_results, check_specs
from monjyu_assets.orchestration.resources import DataFolderResource, ModelGateway
from monjyu_assets.orchestration.results import MaterializedAndChecked
from monjyu_assets.stages.community_reports import CODE_VERSION, write_reports
from monjyu_assets.stages.shared.run_rules import tries_again


@dg.asset(
    **collection_asset_arguments("community_reports", CODE_VERSION, {"parquet", "python"}),
    deps=[entity_communities, entity_graph, parsed_papers],
    check_specs=check_specs("community_reports", REPORT_CHECKS),
    description="Title, summary, findings with cited sentences and a rating for each community of entities, by the "
    "engine of `roles.report`, with a vector. An unchanged community keeps its report.",
)
def community_reports(
    context: dg.AssetExecutionContext, data: DataFolderResource, models: ModelGateway
) -> MaterializedAndChecked:
    with collection_run(context, data) as run:
        with models.within_caps(run.work.settings), spent(run.work, "community_reports") as cost:
            report = write_reports(run.work, again=tries_again())
        failures = [row for part in run.work.parts.heads("report_failures") for row in part.read().to_pylist()]
        causes = [row["error_type"] for row in failures if row["failed"]]
        yield dg.MaterializeResult(
            data_version=dg.DataVersion(report.part.asset_version),
            metadata=run.metadata(report, **cost)
            | {
                "reports": report.part.rows,
                "failed": len(causes),
                "causes": dg.MetadataValue.json({cause: causes.count(cause) for cause in sorted(set(causes))}),
                "dropped": sum(row["dropped"] for row in failures),
            },
        )
        yield from check_results(run.work, REPORT_CHECKS)
