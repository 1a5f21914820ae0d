"""Level 0: papers are parsed, chunked and embedded; files of one paper are grouped, citations resolved, and metadata of
other sources added."""

from collections.abc import Iterable
from functools import partial

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from monjyu_assets.orchestration.assets.base import (
    Materialized,
    MaterializedAndChecked,
    asset_arguments,
    asset_run,
    paper_asset_arguments,
    run_stage,
)
from monjyu_assets.orchestration.instance import owners
from monjyu_assets.orchestration.reporting.run_log import histogram
from monjyu_assets.orchestration.reporting.snapshot_metadata import failed_papers_metadata
from monjyu_assets.orchestration.reporting.table_metadata import Metadata, value_counts
from monjyu_assets.orchestration.resources import BuildOptions, DataFolderResource
from monjyu_assets.parsing.dispatch import PARSER_VERSION
from monjyu_assets.stages import chunk_embeddings as embedding_stage
from monjyu_assets.stages import chunks as chunk_stage
from monjyu_assets.stages import citation_network as citation_stage
from monjyu_assets.stages import paper_identity as identity_stage
from monjyu_assets.stages import paper_manifest as manifest_stage
from monjyu_assets.stages import scholarly_metadata as scholarly_stage
from monjyu_assets.stages.parsed_papers import parse_shards
from monjyu_assets.stages.shared.collection_stage import whole_table
from monjyu_assets.work.work import ShardReport, Work
from monjyu_core.storage.folders import read_other_files
from monjyu_core.storage.parts import Part

# External assets, which Dagster does not materialise: the sources of papers and the readers of the index.
papers_folder = dg.AssetSpec(
    "papers_folder",
    group_name="sources",
    kinds={"file"},
    owners=owners(),
    description="The folders and files that collections are indexed from: `papers/<collection>/` in the data folder, "
    "and those given to `monjyu index` or in the launch form of a level's job. They are read and never written. The "
    "sensor watch_sources checks them; `monjyu sources list` lists them.",
)

query_service = dg.AssetSpec(
    "query_service",
    deps=["index_snapshot"],
    group_name="readers",
    kinds={"fastapi"},
    owners=owners(),
    description="The readers of the published snapshot: the page and the HTTP service (`monjyu up`, `monjyu serve`), "
    "MCP (`monjyu mcp`), `monjyu search` and programs in Python. Each reads the snapshot that CURRENT names; a new one "
    "is used from the next question on.",
)

EXTERNAL_ASSETS = [papers_folder, query_service]


@dg.asset(
    **paper_asset_arguments("paper_manifest", manifest_stage.CODE_VERSION, {"parquet", "file"}),
    deps=[papers_folder],
    description="The papers of a collection: stable id, content hash, type, path. The sources are scanned. A scan that "
    "would delete too many papers stops the run before anything is written, unless the launch form has "
    "`allow_deletes: true`.",
)
def paper_manifest(
    context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions
) -> MaterializedAndChecked:
    def stage(work: Work, shards: tuple[str, ...]) -> Iterable[ShardReport]:
        return manifest_stage.write_manifest(
            work, shards, allow_deletes=build.allow_deletes, seen=partial(build.saw, context, work)
        )

    yield from run_stage(context, data, build, stage, _other_files)


def _other_files(work: Work) -> Metadata:
    others = read_other_files(work.folder)
    return {"files_unsupported": others.unsupported_count, "files_skipped": others.skipped_count}


@dg.asset(
    **paper_asset_arguments("parsed_papers", PARSER_VERSION, {"parquet", "python"}),
    deps=[paper_manifest],
    description="Papers, authors, sections, sentences with their rectangles on the page, references, citations, "
    "tables, figures, equations. A document that cannot be read is a row in `failures`, and the run goes on.",
)
def parsed_papers(
    context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions
) -> MaterializedAndChecked:
    yield from run_stage(context, data, build, parse_shards, failed_papers_metadata)


@dg.asset(
    **paper_asset_arguments("chunks", chunk_stage.CODE_VERSION, {"parquet", "python"}),
    deps=[parsed_papers],
    description="Chunks of text, each from one section, cut by `chunking.strategy` (section, fixed, sentence, "
    "paragraph, semantic). Each fits the embedding model's window together with its header (paper title > section).",
)
def chunks(context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions) -> MaterializedAndChecked:
    yield from run_stage(context, data, build, chunk_stage.chunk_shards)


@dg.asset(
    **paper_asset_arguments("chunk_embeddings", embedding_stage.CODE_VERSION, {"parquet", "openvino"}),
    deps=[chunks],
    description="A vector of length one for the header and text of each chunk. A text that already has a vector in the "
    "collection keeps it. The data version depends on the inputs and the model.",
)
def chunk_embeddings(
    context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions
) -> MaterializedAndChecked:
    yield from run_stage(context, data, build, embedding_stage.embed_shards)


@dg.asset(
    **asset_arguments("paper_identity", identity_stage.CODE_VERSION, {"parquet", "duckdb"}),
    deps=[parsed_papers],
    description="The files of each paper (same DOI, same arXiv id, or nearly equal title and authors), and the one "
    "that represents them in counts, citations and search. Each file keeps its paper_id.",
)
def paper_identity(context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions) -> Materialized:
    with asset_run(context, data, build) as run:
        report = identity_stage.find_identities(run.work)
        reasons = report.part.read(["reason"])["reason"]
        distinct = pc.sum(pc.is_in(reasons, pa.array(["only", "canonical"]))).as_py() or 0
        return run.materialized(report, {"distinct_papers": distinct, "reasons": value_counts(reasons)})


@dg.asset(
    **asset_arguments("citation_network", citation_stage.CODE_VERSION, {"parquet", "duckdb"}),
    deps=[parsed_papers, paper_identity],
    description="References to papers of the collection (by DOI, arXiv id, then title with first author and year), as "
    "edges with their contexts, and all other references, with an id of the work that they cite.",
)
def citation_network(context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions) -> Materialized:
    with asset_run(context, data, build) as run:
        report = citation_stage.build_network(run.work)
        return run.materialized(report, network_metadata(run.work, report.part))


def network_metadata(work: Work, edges: Part) -> Metadata:
    """The numbers of edges and references, the share of resolved references, and the distribution of citations."""
    table = edges.read(["cited_id", "method"])
    cited = table["cited_id"].value_counts().field("counts").to_numpy()
    unresolved = sum(part.rows for part in work.parts.heads("unresolved_references"))
    references = whole_table(work, "references", ["paper_id"]).num_rows
    return {
        "edges": edges.rows,
        "references": references,
        "unresolved_references": unresolved,
        "resolved_share": round(1 - unresolved / references, 4) if references else 0.0,
        "methods": value_counts(table["method"]),
        "times_cited": dg.MetadataValue.md(histogram(cited, "times cited in the collection", "papers")),
    }


@dg.asset(
    **asset_arguments("scholarly_metadata", scholarly_stage.CODE_VERSION, {"parquet", "duckdb"}),
    deps=[parsed_papers, paper_identity],
    description="Retractions, expressions of concern, corrections and reinstatements of the papers from the files in "
    "scholarly.notices, and records of the papers from scholarly.records, libraries and the services in "
    "scholarly.services. Nothing is fetched unless a service is set.",
)
def scholarly_metadata(
    context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions
) -> Materialized:
    with asset_run(context, data, build) as run:
        report = scholarly_stage.find_notices(run.work)
        return run.materialized(report, {"notices": value_counts(report.part.read(["kind"])["kind"])})


LEVEL_0 = [
    paper_manifest,
    parsed_papers,
    chunks,
    chunk_embeddings,
    paper_identity,
    citation_network,
    scholarly_metadata,
]
