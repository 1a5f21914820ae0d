"""Asset `communities`: the noun graph in communities, from coarse to fine."""

import dagster as dg

from monjyu_assets.orchestration.asset_base import collection_asset_arguments, collection_run
from monjyu_assets.orchestration.assets.levels.noun_graph import noun_graph
from monjyu_assets.orchestration.assets.levels.noun_phrases import noun_phrases
from monjyu_assets.orchestration.assets.paper_identity import paper_identity
from monjyu_assets.orchestration.checks.graph_checks import COMMUNITY_CHECKS, check_results, check_specs, measure
from monjyu_assets.orchestration.plots import histogram
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.results import MaterializedAndChecked, Metadata
from monjyu_assets.stages.communities import CODE_VERSION, find_communities
from monjyu_assets.stages.shared.collection_stage import whole_table
from monjyu_assets.stages.shared.work import Work
from monjyu_core.storage.parts import Part


@dg.asset(
    **collection_asset_arguments("communities", CODE_VERSION, {"parquet", "python"}),
    deps=[noun_graph, noun_phrases, paper_identity],
    check_specs=check_specs("communities", COMMUNITY_CHECKS),
    description="Hierarchical Leiden over the noun graph: what is larger than `graph.max_community_size` is split "
    "again until none is. Ids come from level and members. With the chunks that each touches. No model is called.",
)
def communities(context: dg.AssetExecutionContext, data: DataFolderResource) -> MaterializedAndChecked:
    with collection_run(context, data) as run:
        report = find_communities(run.work)
        values = measure(run.work, COMMUNITY_CHECKS)
        metadata = run.metadata(report)
        metadata |= community_metadata(run.work, report.part, values["chunks_covered"])
        yield dg.MaterializeResult(data_version=dg.DataVersion(report.part.asset_version), metadata=metadata)
        yield from check_results(run.work, COMMUNITY_CHECKS, values)


def community_metadata(work: Work, part: Part, uncovered: float) -> Metadata:
    """Sizes by level; of the largest communities only phrases that several papers share, as the log outlives a
    purge."""
    rows = part.read(["community_id", "level", "size", "chunks", "top_phrases"]).to_pylist()
    shared = shared_surfaces(work)
    by_level: dict[int, list[int]] = {}
    for row in rows:
        by_level.setdefault(row["level"], []).append(row["size"])
    largest = sorted(rows, key=lambda row: (row["level"], -row["size"], row["community_id"]))[:10]
    lines = ["| community | phrases | chunks | top phrases |", "| --- | ---: | ---: | --- |"]
    for row in largest:
        top = ", ".join(phrase for phrase in row["top_phrases"] if phrase in shared)
        lines.append(f"| `{row['community_id']}` | {row['size']} | {row['chunks']} | {top} |")
    return {
        "communities": len(rows),
        "levels": dg.MetadataValue.json({str(level): len(sizes) for level, sizes in sorted(by_level.items())}),
        "largest": max((row["size"] for row in rows if row["level"] == 0), default=0),
        "chunks_covered": round(1 - uncovered, 4),
        "sizes": dg.MetadataValue.md(
            histogram(by_level.get(0, []), "phrases in a community of level 0", "communities")
        ),
        "largest_communities": dg.MetadataValue.md("\n".join(lines)),
    }


def shared_surfaces(work: Work) -> set[str]:
    """Phrases that two papers or more use."""
    nodes = whole_table(work, "graph_nodes", ["surface", "papers"]).to_pylist()
    return {row["surface"] for row in nodes if row["papers"] > 1}
