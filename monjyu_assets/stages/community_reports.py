"""Level 3: a report of each community of entities, with its vector. An unchanged community keeps its report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import duckdb
import pyarrow as pa

from monjyu_assets.engines.protocol import failure_row
from monjyu_assets.publishing.closed_set import input_versions
from monjyu_assets.reports.extractive import ExtractiveReports
from monjyu_assets.reports.protocol import ReportEngine, ReportResult, report_row
from monjyu_assets.reports.sources import CommunitySource, GraphRows, community_sources
from monjyu_assets.stages.collection_stage import CollectionReport, whole_table
from monjyu_assets.stages.common import Work, recipe, rows_of
from monjyu_assets.stages.vectors import vector_table
from monjyu_core.embedding import load_embedder
from monjyu_core.ids import digest
from monjyu_core.parts import Part
from monjyu_core.schemas import COLLECTION_SHARD, TABLES

ASSET = "community_reports"
FAILURES = "report_failures"
CODE_VERSION = "1"
Row = dict[str, Any]


def report_engine(work: Work) -> ReportEngine:
    return ExtractiveReports(work.settings.levels.reports.max_findings)


def report_recipe(work: Work) -> str:
    """With the embedding model: vectors are compared with those of questions."""
    fingerprint = load_embedder(work.settings).fingerprint
    return recipe(ASSET, CODE_VERSION, work.settings, report_engine(work).made_with, fingerprint)


def write_reports(work: Work, *, again: bool = False) -> CollectionReport:
    """Write the reports of communities that have changed. `again`: also try those anew that failed."""
    made_with = report_recipe(work)
    inputs = input_versions(work.parts, ASSET, COLLECTION_SHARD)
    own = work.parts.head(ASSET, COLLECTION_SHARD)
    if own is not None and own.inputs == inputs and own.code_version == made_with and not (again and _failed(work)):
        return CollectionReport(own, recomputed=False)
    sources = list(read_sources(work))
    keys = {source.community_id: digest(made_with, source.content()) for source in sources}
    kept = {key for key, value in keys.items() if own and own.keys.get(key) == value}
    new = [source for source in sources if source.community_id not in kept]
    results = {}
    for done, result in enumerate(report_engine(work).run(new), start=1):
        results[result.community_id] = result
        work.progress("reports", done, len(new))
    tables = _tables(work, own, sources, kept, results)
    done_keys = {key: value for key, value in keys.items() if key in kept or results[key].report}
    part = work.parts.write(ASSET, COLLECTION_SHARD, tables, inputs=inputs, keys=done_keys, code_version=made_with)
    return CollectionReport(part, recomputed=True)


def _failed(work: Work) -> bool:
    return any(True in part.read(["failed"])["failed"].to_pylist() for part in work.parts.heads(FAILURES))


def _tables(
    work: Work,
    own: Part | None,
    sources: list[CommunitySource],
    kept: set[str],
    results: Mapping[str, ReportResult],
) -> dict[str, pa.Table]:
    by_id = {source.community_id: source for source in sources}
    engine = report_engine(work).name
    rows = [report_row(by_id[key], done.report, engine) for key, done in results.items() if done.report]
    failures = [
        failure_row({"community_id": key}, done.failure, done.dropped)
        for key, done in results.items()
        if done.failure or done.dropped
    ]
    reports = _with_kept(work, own, ASSET, rows, kept)
    listed = reports.select(["community_id", "title", "summary"]).to_pylist()
    texts = [f"{row['title']}\n{row['summary']}" for row in listed]
    ids = [{"community_id": row["community_id"]} for row in listed]
    return {
        ASSET: reports,
        "report_embeddings": vector_table(work, ASSET, "report_embeddings", ids, texts),
        FAILURES: _with_kept(work, own, FAILURES, failures, kept),
    }


def _with_kept(work: Work, own: Part | None, name: str, rows: list[Row], kept: set[str]) -> pa.Table:
    table = pa.Table.from_pylist(rows, schema=TABLES[name].schema)
    part = work.parts.head(name, COLLECTION_SHARD) if own else None
    return pa.concat_tables([table, rows_of(part.read(), sorted(kept), "community_id")]) if part else table


def read_sources(work: Work) -> list[CommunitySource]:
    """What each community that is large enough says, out of the parts of level 2."""
    settings = work.settings.levels.reports
    communities = whole_table(work, "entity_communities", ["community_id", "level", "size"]).to_pylist()
    chosen = [row for row in communities if row["size"] >= settings.min_size]
    columns = ["sentence_id", "paper_id", "text"]
    with duckdb.connect(":memory:") as connection:
        parts = [str(part.path) for part in work.parts.heads("sentences")]
        connection.read_parquet(parts, hive_partitioning=False).select(*columns).create_view("sentences")

        def sentences(ids: set[str]) -> dict[str, tuple[str, str]]:
            query = "SELECT sentence_id, paper_id, text FROM sentences WHERE sentence_id IN (SELECT unnest($ids))"
            return {key: (p, text) for key, p, text in connection.execute(query, {"ids": sorted(ids)}).fetchall()}

        return list(community_sources(chosen, _graph(work), sentences, settings.source_tokens))


def _graph(work: Work) -> GraphRows:
    members: dict[str, list[str]] = defaultdict(list)
    for row in whole_table(work, "entity_community_members", ["community_id", "entity_id"]).to_pylist():
        members[row["community_id"]].append(row["entity_id"])
    places: dict[str, list[Row]] = defaultdict(list)
    for row in whole_table(work, "entity_chunks", ["entity_id", "chunk_id", "paper_id", "mentions"]).to_pylist():
        places[row["entity_id"]].append(row)
    links: dict[str, list[Row]] = defaultdict(list)
    columns = ["relationship_id", "source_id", "target_id", "type", "weight", "sentence_ids"]
    for row in whole_table(work, "relationships", columns).to_pylist():
        links[row["source_id"]].append(row)
    columns = ["entity_id", "name", "type", "mentions", "sentence_ids"]
    entities = {row["entity_id"]: row for row in whole_table(work, "entities", columns).to_pylist()}
    papers = {
        row["paper_id"]: row for row in whole_table(work, "papers", ["paper_id", "title", "language"]).to_pylist()
    }
    return GraphRows(entities, members, places, links, papers)
