"""Level 3: reports of the largest communities of entities, with vectors. An unchanged community keeps its report."""

import math
from collections.abc import Mapping, Sequence

import duckdb
import pyarrow as pa

from monjyu_assets.levels.engines.chunk_engine import failure_cause
from monjyu_assets.levels.engines.model_calls import ModelCalls, ModelReport
from monjyu_assets.levels.reports.extractive_reports import ExtractiveReports
from monjyu_assets.levels.reports.model_reports import ModelReports
from monjyu_assets.levels.reports.sources import (
    CitedLink,
    CommunitySource,
    GraphRows,
    NamedEntity,
    ReportEngine,
    ReportResult,
    SizedCommunity,
    TitledPaper,
    community_source,
    report_row,
)
from monjyu_assets.stages.shared.collection_stage import CollectionReport, vector_table, whole_rows
from monjyu_assets.work.closed_set import has_failed, input_versions
from monjyu_assets.work.work import Work, grouped, recipe, rows_of
from monjyu_core.embedding import load_embedder
from monjyu_core.models.factory import check_role
from monjyu_core.settings.levels import ReportSettings
from monjyu_core.storage.ids import digest
from monjyu_core.storage.parts import Part
from monjyu_core.storage.rows_levels import EntityChunkRow, EntityCommunityMemberRow, ReportFailureRow
from monjyu_core.storage.schemas import COLLECTION_SHARD, Record, table_of

ASSET = "community_reports"
FAILURES = "report_failures"
CODE_VERSION = "3"
FEWEST = 10
"""The lowest limit on the number of reports, for small collections."""
_SENTENCES = """
CREATE TABLE sentences AS SELECT sentence_id, paper_id, text FROM everything SEMI JOIN wanted USING (sentence_id)
"""
"""Reads the sentences of all communities together; each community then selects its own."""


def report_engine(work: Work) -> ReportEngine:
    """The engine that `roles.report.engine` names. Raises ConfigurationError if its model is not set up."""
    role = work.settings.roles.report
    if role.engine == "extractive":
        return ExtractiveReports(work.settings.levels.reports.max_findings)
    check_role(work.settings, "report")
    return ModelReports(work.settings, lambda: ModelCalls(work.session(ASSET), "report", ModelReport, role.concurrency))


def report_recipe(work: Work) -> str:
    """The recipe of the asset, with the embedding model, whose vectors are compared with those of questions."""
    return digest(rows_recipe(work), load_embedder(work.settings).fingerprint)


def rows_recipe(work: Work) -> str:
    """The recipe of the reports. It excludes the embedding model, because a different one needs no new reports."""
    return recipe(ASSET, CODE_VERSION, work.settings, report_engine(work).made_with)


def write_reports(work: Work, *, again: bool = False) -> CollectionReport:
    """Write the reports of changed communities. With `again`, failed reports of unchanged inputs are also retried."""
    made_with = report_recipe(work)
    inputs = input_versions(work.parts, ASSET, COLLECTION_SHARD)
    previous = work.parts.head(ASSET, COLLECTION_SHARD)
    if (
        previous is not None
        and previous.inputs == inputs
        and previous.code_version == made_with
        and not (again and has_failed(work.parts, ASSET, COLLECTION_SHARD))
    ):
        return CollectionReport(previous, recomputed=False)
    sources = list(read_sources(work))
    same = rows_recipe(work)
    keys = {source.community_id: digest(same, source.content()) for source in sources}
    kept = {key for key, value in keys.items() if previous and previous.keys.get(key) == value}
    new = [source for source in sources if source.community_id not in kept]
    results = {}
    for done, result in enumerate(report_engine(work).run(new), start=1):
        results[result.community_id] = result
        work.progress("reports", done, len(new))
    tables = _tables(work, previous, sources, kept, results)
    done_keys = {key: value for key, value in keys.items() if key in kept or results[key].report}
    part = work.parts.write(ASSET, COLLECTION_SHARD, tables, inputs=inputs, keys=done_keys, code_version=made_with)
    return CollectionReport(part, recomputed=True)


def _tables(
    work: Work,
    previous: Part | None,
    sources: list[CommunitySource],
    kept: set[str],
    results: Mapping[str, ReportResult],
) -> dict[str, pa.Table]:
    by_id = {source.community_id: source for source in sources}
    engine = report_engine(work).name
    rows = [report_row(by_id[key], done.report, engine) for key, done in results.items() if done.report]
    failures: list[ReportFailureRow] = [
        {"community_id": key, **failure_cause(done.failure, done.dropped)}
        for key, done in results.items()
        if done.failure or done.dropped
    ]
    reports = _with_unchanged(work, previous, ASSET, rows, kept)
    listed = reports.select(["community_id", "title", "summary"]).to_pylist()
    texts = [f"{row['title']}\n{row['summary']}" for row in listed]
    ids = [{"community_id": row["community_id"]} for row in listed]
    return {
        ASSET: reports,
        "report_embeddings": vector_table(work, ASSET, "report_embeddings", ids, texts),
        FAILURES: _with_unchanged(work, previous, FAILURES, failures, kept),
    }


def _with_unchanged(work: Work, previous: Part | None, name: str, rows: Sequence[Record], kept: set[str]) -> pa.Table:
    table = table_of(name, rows)
    part = work.parts.head(name, COLLECTION_SHARD) if previous else None
    return pa.concat_tables([table, rows_of(part.read(), sorted(kept), "community_id")]) if part else table


def read_sources(work: Work) -> list[CommunitySource]:
    """The inputs of the reports, from the parts of level 2."""
    graph = graph_rows(
        work,
        whole_rows(work, "entities", NamedEntity),
        whole_rows(work, "entity_community_members", EntityCommunityMemberRow),
        whole_rows(work, "entity_chunks", EntityChunkRow),
        whole_rows(work, "relationships", CitedLink),
    )
    return sources_of(work, whole_rows(work, "entity_communities", SizedCommunity), graph)


def sources_of(work: Work, communities: Sequence[SizedCommunity], graph: GraphRows) -> list[CommunitySource]:
    """The inputs of reports on the largest of `communities`. Communities without quotable sentences are omitted."""
    settings = work.settings.levels.reports
    chosen = _largest(communities, settings, sum(part.rows for part in work.parts.heads("chunks")))
    members = {entity for row in chosen for entity in graph.members[row["community_id"]]}
    wanted = {sentence for entity in members for sentence in graph.entities[entity]["sentence_ids"]}
    wanted |= {sentence for one in members for link in graph.links.get(one, ()) for sentence in link["sentence_ids"]}
    with duckdb.connect(":memory:") as connection:
        connection.register("wanted", pa.table({"sentence_id": pa.array(sorted(wanted), pa.string())}))
        parts = [str(part.path) for part in work.parts.heads("sentences")]
        connection.read_parquet(parts, hive_partitioning=False).create_view("everything")
        connection.execute(_SENTENCES).fetchall()

        def sentences(ids: set[str]) -> dict[str, tuple[str, str]]:
            query = "SELECT sentence_id, paper_id, text FROM sentences WHERE sentence_id IN (SELECT unnest($ids))"
            return {key: (p, text) for key, p, text in connection.execute(query, {"ids": sorted(ids)}).fetchall()}

        sources = (community_source(row, graph, sentences, settings.source_tokens) for row in chosen)
        return [source for source in sources if source.sentences]  # without sentences there is nothing to report


def _largest(communities: Sequence[SizedCommunity], settings: ReportSettings, chunks: int) -> list[SizedCommunity]:
    """The communities that get reports: the largest ones, up to the limit of the settings."""
    enough = [row for row in communities if row["size"] >= settings.min_size]
    most = max(FEWEST, math.ceil(settings.per_100_chunks * chunks / 100))
    return sorted(enough, key=lambda row: (-row["size"], row["community_id"]))[:most]


def graph_rows(
    work: Work,
    entities: Sequence[NamedEntity],
    members: Sequence[EntityCommunityMemberRow],
    places: Sequence[EntityChunkRow],
    relationships: Sequence[CitedLink],
) -> GraphRows:
    """The rows of level 2, indexed by the ids that reports use."""
    papers = whole_rows(work, "papers", TitledPaper)
    return GraphRows(
        {row["entity_id"]: row for row in entities},
        {
            key: [row["entity_id"] for row in rows]
            for key, rows in grouped(members, lambda row: row["community_id"]).items()
        },
        grouped(places, lambda row: row["entity_id"]),
        grouped(relationships, lambda row: row["source_id"]),
        {row["paper_id"]: row for row in papers},
    )
