"""Levels 2 to 4: entities and relationships of chunks, their graph, its communities and their reports, and claims."""

import dagster as dg
import pyarrow.compute as pc

from monjyu_assets.orchestration.assets.base import (
    MaterializedAndChecked,
    asset_arguments,
    asset_run,
    model_usage,
    paper_asset_arguments,
    run_stage,
)
from monjyu_assets.orchestration.assets.level_0 import chunks, paper_identity, parsed_papers
from monjyu_assets.orchestration.assets.level_1 import noun_graph
from monjyu_assets.orchestration.checks.paper_checks import (
    ENTITY_CHECKS,
    ENTITY_COMMUNITY_CHECKS,
    REPORT_CHECKS,
    check_results,
    check_specs,
)
from monjyu_assets.orchestration.reporting.run_log import histogram
from monjyu_assets.orchestration.reporting.table_metadata import Metadata, value_counts
from monjyu_assets.orchestration.resources import BuildOptions, DataFolderResource
from monjyu_assets.stages import claims as claim_stage
from monjyu_assets.stages import community_reports as report_stage
from monjyu_assets.stages import entity_communities as community_stage
from monjyu_assets.stages import entity_graph as graph_stage
from monjyu_assets.stages import extracted_entities as extraction_stage
from monjyu_assets.stages.shared.collection_stage import whole_table
from monjyu_assets.work.run_limits import tries_again
from monjyu_assets.work.work import Work
from monjyu_core.storage.parts import Part


@dg.asset(
    **paper_asset_arguments("extracted_entities", extraction_stage.CODE_VERSION, {"parquet", "python"}),
    deps=[parsed_papers, chunks, noun_graph],
    description="Researchers, organizations, methods, models, datasets, metrics, tasks, concepts, tools and papers of "
    "each chunk, and the relationships that sentences state between them, by the engine of `roles.extract`. A chunk on "
    "which the engine failed is a row in `entity_failures`. `levels.entities.extract_share` limits the work to the "
    "most central chunks.",
)
def extracted_entities(
    context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions
) -> MaterializedAndChecked:
    yield from run_stage(context, data, build, extraction_stage.extract_shards)


@dg.asset(
    **asset_arguments("entity_graph", graph_stage.CODE_VERSION, {"parquet", "python"}),
    deps=[extracted_entities, parsed_papers, paper_identity],
    check_specs=check_specs("entity_graph", ENTITY_CHECKS),
    description="Mentions, merged into entities by normalised name, acronym, initials and external ids, never across "
    "types, and relationships with weights summed over their mentions. Files of one paper count once. No model is "
    "called.",
)
def entity_graph(
    context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions
) -> MaterializedAndChecked:
    with asset_run(context, data, build) as run:
        report = graph_stage.build_entity_graph(run.work)
        yield run.materialized(report, entity_metadata(run.work, report.part))
        yield from check_results(run.work, ENTITY_CHECKS)


def entity_metadata(work: Work, entities: Part) -> Metadata:
    """The size, types and degrees of the graph, without names, because the log outlives a purge."""
    table = entities.read(["type", "degree"])
    degrees = table["degree"].to_numpy()
    return {
        "entities": entities.rows,
        "relationships": sum(part.rows for part in work.parts.heads("relationships")),
        "alone": int((degrees == 0).sum()),
        "types": value_counts(table["type"]),
        "degrees": dg.MetadataValue.md(histogram(degrees, "degree", "entities")),
    }


@dg.asset(
    **asset_arguments("entity_communities", community_stage.CODE_VERSION, {"parquet", "python"}),
    deps=[entity_graph],
    check_specs=check_specs("entity_communities", ENTITY_COMMUNITY_CHECKS),
    description="Communities of the entity graph by hierarchical Leiden: a community larger than "
    "`levels.entities.max_community_size` is split again. Ids are hashes of level and members. No model is called.",
)
def entity_communities(
    context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions
) -> MaterializedAndChecked:
    with asset_run(context, data, build) as run:
        report = community_stage.find_entity_communities(run.work)
        sizes = report.part.read(["level", "size"])
        metadata: Metadata = {
            "communities": report.part.rows,
            "levels": value_counts(sizes["level"]),
            "sizes": dg.MetadataValue.md(histogram(sizes["size"].to_numpy(), "entities", "communities")),
        }
        yield run.materialized(report, metadata)
        yield from check_results(run.work, ENTITY_COMMUNITY_CHECKS)


LEVEL_2 = [extracted_entities, entity_graph, entity_communities]


# Levels 3 and 4: reports of the communities of entities, and claims of chunks.
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
            failures = whole_table(run.work, "report_failures", ["error_type", "failed", "dropped"])
            causes = failures.filter(failures["failed"]).sort_by("error_type")["error_type"]
            metadata: Metadata = {
                "reports": report.part.rows,
                "failed": len(causes),
                "causes": value_counts(causes),
                "dropped": pc.sum(failures["dropped"]).as_py() or 0,
            }
            yield run.materialized(report, metadata, **usage)
        yield from check_results(run.work, REPORT_CHECKS)


@dg.asset(
    **paper_asset_arguments("claims", claim_stage.CODE_VERSION, {"parquet", "python"}),
    deps=[parsed_papers, chunks, community_reports],  # reads no report: the dependency makes claims run last
    description="Claims of each chunk with subject, statement, the sentence they are quoted from, kind and confidence, "
    "and their vectors, by the engine of `roles.extract`. A quote that is not in the chunk is dropped and counted.",
)
def claims(context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions) -> MaterializedAndChecked:
    yield from run_stage(context, data, build, claim_stage.claim_shards)


LEVEL_3 = [community_reports]
LEVEL_4 = [claims]
