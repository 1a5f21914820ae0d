"""Level 1: noun phrases, their graph, and its communities. No model is called."""

import dagster as dg
import pyarrow.compute as pc

from monjyu_assets.orchestration.assets.base import (
    MaterializedAndChecked,
    asset_arguments,
    asset_run,
    paper_asset_arguments,
    run_stage,
)
from monjyu_assets.orchestration.assets.level_0 import chunks, paper_identity
from monjyu_assets.orchestration.checks.paper_checks import (
    COMMUNITY_CHECKS,
    GRAPH_CHECKS,
    check_results,
    check_specs,
    measure,
)
from monjyu_assets.orchestration.reporting.run_log import histogram
from monjyu_assets.orchestration.reporting.table_metadata import Metadata, as_code, value_counts
from monjyu_assets.orchestration.resources import BuildOptions, DataFolderResource
from monjyu_assets.stages import communities as community_stage
from monjyu_assets.stages import noun_graph as graph_stage
from monjyu_assets.stages import noun_phrases as phrase_stage
from monjyu_assets.stages.shared.collection_stage import whole_table
from monjyu_assets.work.work import Work
from monjyu_core.storage.parts import Part

SHOWN = 10


@dg.asset(
    **paper_asset_arguments("noun_phrases", phrase_stage.CODE_VERSION, {"parquet", "python"}),
    deps=[chunks],
    description="The noun phrases of each chunk (spaCy; SudachiPy for Japanese), with lemmatised heads and acronyms "
    "spelt out as their paper defines them, without citations, formulas and boilerplate. No language model is called.",
)
def noun_phrases(
    context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions
) -> MaterializedAndChecked:
    yield from run_stage(context, data, build, phrase_stage.phrase_shards)


@dg.asset(
    **asset_arguments("noun_graph", graph_stage.CODE_VERSION, {"parquet", "duckdb"}),
    deps=[noun_phrases, paper_identity],
    check_specs=check_specs("noun_graph", GRAPH_CHECKS),
    description="Noun phrases as nodes. Phrases in one chunk are joined by an edge of weight p(x,y) log2(p(x,y) / "
    "(p(x) p(y))), or the number of shared chunks. Rare phrases, hubs and weak edges are pruned (settings `graph`). No "
    "model is called.",
)
def noun_graph(
    context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions
) -> MaterializedAndChecked:
    with asset_run(context, data, build) as run:
        report = graph_stage.build_noun_graph(run.work)
        yield run.materialized(report, graph_metadata(run.work, report.part))
        yield from check_results(run.work, GRAPH_CHECKS)


def graph_metadata(work: Work, nodes: Part) -> Metadata:
    """The size and the degrees of the graph. Hubs are shown with degree and document frequency but without their text,
    because the log outlives a purge."""
    table = nodes.read(["phrase", "df", "degree"]).sort_by([("degree", "descending"), ("phrase", "ascending")])
    degrees = table["degree"].to_numpy()
    hubs = table.slice(0, SHOWN).to_pylist()
    lines = ["| degree | chunks |", "| ---: | ---: |", *(f"| {row['degree']} | {row['df']} |" for row in hubs)]
    return {
        "nodes": nodes.rows,
        "edges": sum(part.rows for part in work.parts.heads("graph_edges")),
        "isolates": int((degrees == 0).sum()),
        "largest_degree": int(degrees.max(initial=0)),
        "degrees": dg.MetadataValue.md(histogram(degrees, "degree", "phrases")),
        "hubs": dg.MetadataValue.md("\n".join(lines)),
    }


@dg.asset(
    **asset_arguments("communities", community_stage.CODE_VERSION, {"parquet", "python"}),
    deps=[noun_graph, noun_phrases, paper_identity],
    check_specs=check_specs("communities", COMMUNITY_CHECKS),
    description="Communities of the noun graph by hierarchical Leiden: a community larger than "
    "`graph.max_community_size` is split again. Ids are hashes of level and members. Each community has the number of "
    "its chunks. No model is called.",
)
def communities(
    context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions
) -> MaterializedAndChecked:
    with asset_run(context, data, build) as run:
        report = community_stage.find_communities(run.work)
        values = measure(run.work, COMMUNITY_CHECKS)
        yield run.materialized(report, community_metadata(run.work, report.part, values["chunks_covered"]))
        yield from check_results(run.work, COMMUNITY_CHECKS, values)


def community_metadata(work: Work, part: Part, uncovered: float) -> Metadata:
    """The sizes by level, and the largest communities, of which only phrases that several papers share are shown,
    because the log outlives a purge."""
    table = part.read(["community_id", "level", "size", "chunks", "top_phrases"])
    table = table.sort_by([("level", "ascending"), ("size", "descending"), ("community_id", "ascending")])
    shared = shared_surfaces(work)
    sizes = table.filter(pc.equal(table["level"], 0))["size"].to_numpy()
    lines = ["| community | phrases | chunks | top phrases |", "| --- | ---: | ---: | --- |"]
    for row in table.slice(0, SHOWN).to_pylist():
        top = ", ".join(as_code(phrase) for phrase in row["top_phrases"] if phrase in shared)
        lines.append(f"| `{row['community_id']}` | {row['size']} | {row['chunks']} | {top} |")
    return {
        "communities": part.rows,
        "levels": value_counts(table["level"]),
        "largest": int(sizes.max(initial=0)),
        "chunks_covered": round(1 - uncovered, 4),
        "sizes": dg.MetadataValue.md(histogram(sizes, "phrases in a community of level 0", "communities")),
        "largest_communities": dg.MetadataValue.md("\n".join(lines)),
    }


def shared_surfaces(work: Work) -> set[str]:
    """The surface forms of phrases in at least two papers."""
    nodes = whole_table(work, "graph_nodes", ["surface", "papers"])
    return set(nodes.filter(pc.greater(nodes["papers"], 1))["surface"].to_pylist())


LEVEL_1 = [noun_phrases, noun_graph, communities]
