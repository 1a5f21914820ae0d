"""Asset `index_snapshot`: the published index that readers open."""

from datetime import timedelta

import dagster as dg

from monjyu_assets.orchestration.asset_base import collection_run
from monjyu_assets.orchestration.asset_telemetry import asset_done
from monjyu_assets.orchestration.assets.chunk_embeddings import chunk_embeddings
from monjyu_assets.orchestration.assets.chunks import chunks
from monjyu_assets.orchestration.assets.citation_network import citation_network
from monjyu_assets.orchestration.assets.levels.claims import claims
from monjyu_assets.orchestration.assets.levels.communities import communities
from monjyu_assets.orchestration.assets.levels.community_reports import community_reports
from monjyu_assets.orchestration.assets.levels.entity_communities import entity_communities
from monjyu_assets.orchestration.assets.levels.entity_graph import entity_graph
from monjyu_assets.orchestration.assets.levels.extracted_entities import extracted_entities
from monjyu_assets.orchestration.assets.levels.noun_graph import noun_graph
from monjyu_assets.orchestration.assets.levels.noun_phrases import noun_phrases
from monjyu_assets.orchestration.assets.paper_identity import paper_identity
from monjyu_assets.orchestration.assets.paper_manifest import paper_manifest
from monjyu_assets.orchestration.assets.parsed_papers import parsed_papers
from monjyu_assets.orchestration.assets.saved_answers import log_answers
from monjyu_assets.orchestration.assets.scholarly_metadata import scholarly_metadata
from monjyu_assets.orchestration.automation.conditions import collection_condition
from monjyu_assets.orchestration.checks.drift_checks import drift_results, drift_specs, retrieval_result
from monjyu_assets.orchestration.checks.quality_checks import quality_results, quality_specs
from monjyu_assets.orchestration.checks.questions_check import QUESTIONS_SPEC, questions_result
from monjyu_assets.orchestration.checks.rebuild_check import REBUILD_SPEC, rebuild_result
from monjyu_assets.orchestration.code_location import owners
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.resources import IO_MANAGER, DataFolderResource, SearchFilesResource, SnapshotDuckDB
from monjyu_assets.orchestration.results import MaterializedAndChecked, Metadata
from monjyu_assets.orchestration.telling.snapshot_metadata import (
    described_snapshot,
    lineage_metadata,
    other_files_metadata,
    published_told,
    retrieval_metadata,
    snapshot_metadata,
)
from monjyu_assets.publishing.candidate import CODE_VERSION
from monjyu_assets.publishing.checks import CHECKS, CheckResult
from monjyu_assets.publishing.gates import vector_check
from monjyu_assets.publishing.gates.questions_gate import QuestionsGate
from monjyu_assets.publishing.gates.retrieval_gate import RetrievalGate
from monjyu_assets.publishing.lineage import lineage_counts
from monjyu_assets.publishing.publish import PublishBlocked, publish
from monjyu_core.search_files.nearest_table import MIN_RECALL
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.manifest import Manifest
from monjyu_core.storage.other_files import read_other_files

PAPER_ASSETS = [paper_manifest, parsed_papers, chunks, chunk_embeddings]
COLLECTION_ASSETS = [paper_identity, citation_network, scholarly_metadata]
LEVEL_1_PAPER_ASSETS = [noun_phrases]
LEVEL_1_COLLECTION_ASSETS = [noun_graph, communities]
PAPER_ASSETS_BY_LEVEL = {0: PAPER_ASSETS, 1: LEVEL_1_PAPER_ASSETS, 2: [extracted_entities], 3: [], 4: [claims]}
COLLECTION_ASSETS_BY_LEVEL = {
    0: COLLECTION_ASSETS,
    1: LEVEL_1_COLLECTION_ASSETS,
    2: [entity_graph, entity_communities],
    3: [community_reports],
    4: [],
}
ALL_ASSETS = [
    asset
    for by_level in (PAPER_ASSETS_BY_LEVEL, COLLECTION_ASSETS_BY_LEVEL)
    for assets in by_level.values()
    for asset in assets
]


NEAREST_SPEC = dg.AssetCheckSpec(
    "nearest_found",
    asset="index_snapshot",
    description="The approximate index of a large collection finds nearly all of the nearest chunks.",
    partitions_def=collections,
)


def freshness_policy() -> dg.FreshnessPolicy | None:
    """By the setting, and none by default: for Dagster a snapshot ages although its sources stay as they are, and the
    collections are one asset. The check snapshot_fresh looks at the sources of each instead."""
    hours = load_settings().automation.publish_within_hours
    return None if hours is None else dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=hours))


BLOCKING = {name: what for name, (what, _) in CHECKS.items()} | {vector_check.NAME: vector_check.WHAT}
"""Checks that keep a snapshot from being made, and what they ask."""


@dg.asset(
    name="index_snapshot",
    partitions_def=collections,
    group_name="publish",
    deps=ALL_ASSETS,
    code_version=CODE_VERSION,
    kinds={"duckdb", "lancedb"},
    owners=owners(),
    tags={"monjyu/level": "all"},
    metadata=described_snapshot(),
    pool="index_snapshot",
    io_manager_key=IO_MANAGER,
    automation_condition=collection_condition(0, publishes=True),
    freshness_policy=freshness_policy(),
    check_specs=[
        dg.AssetCheckSpec(name, asset="index_snapshot", description=what, blocking=True, partitions_def=collections)
        for name, what in BLOCKING.items()
    ]
    + quality_specs("index_snapshot")
    + drift_specs("index_snapshot")
    + [NEAREST_SPEC, REBUILD_SPEC, QUESTIONS_SPEC],
    description="A closed and checked set of parts as one immutable snapshot (DuckDB, search files); CURRENT is "
    "swapped last: readers see the old one or the new one and never wait. Equal parts publish nothing new.",
)
def index_snapshot(
    context: dg.AssetExecutionContext,
    data: DataFolderResource,
    snapshots: SnapshotDuckDB,
    search_files: SearchFilesResource,
) -> MaterializedAndChecked:
    with collection_run(context, data) as run:
        work, gate, questions = run.work, RetrievalGate(run.work), QuestionsGate(run.work)
        try:
            published = publish(
                work, snapshots.writing, lambda snapshot_id: gate(snapshot_id) or questions(snapshot_id)
            )
        except PublishBlocked as blocked:
            yield from (_check_result(check) for check in blocked.checks if check.name in BLOCKING)
            if gate.ndcg is not None:
                yield retrieval_result(gate)
            yield questions_result(questions)
            raise
        checks = [
            *map(_check_result, published.checks),
            *quality_results(work, published.manifest),
            *drift_results(work, published.manifest, gate),
            questions_result(questions),
            _nearest_result(published.manifest, search_files),
            rebuild_result(work),
        ]
        yield from checks
        seconds = round(run.timer.seconds, 3)
        asset_done(work, "index_snapshot", seconds, rows=published.manifest.rows["chunks"], checks=checks)
        database = work.folder.database(published.manifest.snapshot_id)
        context.log.info(published_told(work, published))
        log_answers(context, questions)
        metadata = snapshot_metadata(work, published, seconds) | retrieval_metadata(context, gate)
        metadata |= lineage_metadata(lineage_counts(database))
        metadata |= other_files_metadata(read_other_files(work.folder)) | run.computed(seconds, anew=published.new)
        yield dg.MaterializeResult(data_version=dg.DataVersion(published.manifest.content), metadata=metadata)


def _nearest_result(manifest: Manifest, search_files: SearchFilesResource) -> dg.AssetCheckResult:
    nearest, expected = manifest.nearest, sum(entry.rows for entry in manifest.search)
    with search_files.reading(manifest.collection, manifest.snapshot_id) as held:
        there = held.chunks
    metadata: Metadata = {"chunks": there}
    if nearest:
        metadata |= {"recall": nearest.recall, "probes": nearest.probes, "indexed": nearest.rows}
    found = f"{nearest.recall:.1%} of the nearest chunks are candidates." if nearest else "All chunks are compared."
    return dg.AssetCheckResult(
        check_name=NEAREST_SPEC.name,
        passed=there == expected and (nearest is None or nearest.recall >= MIN_RECALL),
        severity=dg.AssetCheckSeverity.WARN,
        description=found,
        metadata=metadata,
    )


def _check_result(check: CheckResult) -> dg.AssetCheckResult:
    metadata: Metadata = {"offending": check.count, "examples": check.examples}
    description = "Nothing offends." if check.passed else f"{check.count} rows offend: the examples are their ids."
    return dg.AssetCheckResult(check_name=check.name, passed=check.passed, description=description, metadata=metadata)
