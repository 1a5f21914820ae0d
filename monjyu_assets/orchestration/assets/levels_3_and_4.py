"""Levels 3 and 4: reports of the communities of entities, and claims of chunks."""

import dagster as dg

from monjyu_assets.orchestration.assets.asset_base import (
    MaterializedAndChecked,
    asset_arguments,
    asset_run,
    model_usage,
    paper_asset_arguments,
    run_stage,
)
from monjyu_assets.orchestration.assets.level_0 import chunks, parsed_papers
from monjyu_assets.orchestration.assets.level_2 import entity_communities, entity_graph
from monjyu_assets.orchestration.checks.graph_checks import REPORT_CHECKS, check_results, check_specs
from monjyu_assets.orchestration.reporting.table_metadata import Metadata
from monjyu_assets.orchestration.resources import BuildOptions, DataFolderResource
from monjyu_assets.stages import claims as claim_stage
from monjyu_assets.stages import community_reports as report_stage
from monjyu_assets.work.run_limits import tries_again


@dg.asset(
    **asset_arguments("community_reports", report_stage.CODE_VERSION, {"parquet", "python"}),
    deps=[entity_communities, entity_graph, parsed_papers],
    check_specs=check_specs("community_reports", REPORT_CHECKS),
    description="Title, summary, findings with cited sentences and a rating for each community of entities, by the "
    "engine of `roles.report`, with a vector. An unchanged community keeps its report.",
)
def community_reports(
    context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions
) -> MaterializedAndChecked:
    with asset_run(context, data, build) as run:
        if held_back := run.held_back(3):
            yield held_back
        else:
            with model_usage(run.work, run.asset) as usage:
                report = report_stage.write_reports(run.work, again=tries_again())
            failures = [row for part in run.work.parts.heads("report_failures") for row in part.read().to_pylist()]
            causes = [row["error_type"] for row in failures if row["failed"]]
            metadata: Metadata = {
                "reports": report.part.rows,
                "failed": len(causes),
                "causes": dg.MetadataValue.json({cause: causes.count(cause) for cause in sorted(set(causes))}),
                "dropped": sum(row["dropped"] for row in failures),
            }
            yield run.materialized(report, metadata, **usage)
        yield from check_results(run.work, REPORT_CHECKS)


@dg.asset(
    **paper_asset_arguments("claims", claim_stage.CODE_VERSION, {"parquet", "python"}),
    deps=[parsed_papers, chunks, community_reports],  # reads no report: it runs last, as it may be held back by them
    description="Claims of each chunk with subject, statement, the sentence they are quoted from, kind and confidence, "
    "and their vectors, by the engine of `roles.extract`. A quote that is not in the chunk is dropped and counted.",
)
def claims(context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions) -> MaterializedAndChecked:
    yield from run_stage(context, data, build, claim_stage.claim_shards)


LEVEL_3 = [community_reports]
LEVEL_4 = [claims]
