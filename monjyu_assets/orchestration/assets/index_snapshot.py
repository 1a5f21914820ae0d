"""Asset `index_snapshot`: the published index that readers open."""

from datetime import timedelta

import dagster as dg

from monjyu_assets.orchestration.assets.base import MaterializedAndChecked, asset_run
from monjyu_assets.orchestration.assets.level_0 import LEVEL_0
from monjyu_assets.orchestration.assets.level_1 import LEVEL_1
from monjyu_assets.orchestration.assets.level_2 import LEVEL_2, LEVEL_3, LEVEL_4
from monjyu_assets.orchestration.checks.rebuild_check import rebuild_result
from monjyu_assets.orchestration.checks.snapshot_checks import (
    check_result,
    nearest_result,
    questions_metadata,
    questions_result,
    retrieval_result,
    snapshot_check_specs,
    steady_result,
    understood_result,
)
from monjyu_assets.orchestration.instance import owners
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.reporting.run_log import asset_done
from monjyu_assets.orchestration.reporting.snapshot_metadata import (
    described_snapshot,
    lineage_metadata,
    other_files_metadata,
    publish_summary,
    retrieval_metadata,
    snapshot_metadata,
)
from monjyu_assets.orchestration.reporting.table_metadata import Metadata
from monjyu_assets.orchestration.resources import (
    IO_MANAGER,
    BuildOptions,
    DataFolderResource,
    SearchFilesResource,
    SnapshotDuckDB,
)
from monjyu_assets.publishing.candidate import CODE_VERSION
from monjyu_assets.publishing.database import lineage_counts
from monjyu_assets.publishing.publish import PublishBlocked, publish, publish_lock
from monjyu_assets.publishing.questions_gate import QuestionsGate
from monjyu_assets.publishing.retrieval_gate import RetrievalGate
from monjyu_assets.work.work import Work
from monjyu_core.records.question_list import QUESTIONS
from monjyu_core.records.recorded_answers import answers_path, comparable_bytes, forget_other_answers
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.folders import read_other_files
from monjyu_core.storage.ids import digest
from monjyu_core.storage.snapshot import published, read_current

NAME = "saved_answers"


@dg.asset(
    name=NAME,
    partitions_def=collections,
    group_name="publish",
    deps=["index_snapshot"],
    kinds={"parquet"},
    owners=owners(),
    tags={"monjyu/level": "all"},
    pool=NAME,
    io_manager_key=IO_MANAGER,
    description="The answers of each snapshot to the saved questions (`monjyu questions`): text, citations with "
    "sentences and rectangles, the parts they come from, and whether the answer meets its expectations. Each snapshot "
    "has a Parquet file, which is deleted with it. A publish answers before readers see the snapshot and reports this "
    "asset; materialising it answers questions saved since then.",
)
def saved_answers(
    context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions
) -> dg.MaterializeResult[None]:
    with asset_run(context, data, build) as run, publish_lock(run.work.folder):
        work, current = run.work, read_current(run.work.folder)
        gate = QuestionsGate(work)
        if current is not None and QUESTIONS.read(work.folder).questions:
            gate.ask(current)
            gate.keep(current)
        forget_other_answers(work.folder, published(work.folder))
        metadata, version = answers_metadata(work, gate, current)
        return dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(version))


def log_answers(context: dg.AssetExecutionContext, gate: QuestionsGate) -> None:
    """Report the asset `saved_answers` with the answers of a publish; does nothing if there are none."""
    if not gate.answers:
        return
    metadata, version = answers_metadata(gate.work, gate, gate.answers[0].snapshot_id)
    tags = {"dagster/data_version": version}
    event = dg.AssetMaterialization(NAME, partition=context.partition_key, metadata=metadata, tags=tags)
    context.log_event(event)


def answers_metadata(work: Work, gate: QuestionsGate, snapshot_id: str | None) -> tuple[Metadata, str]:
    """The metadata of a snapshot's answers, and their data version, which is equal for equal answers."""
    if snapshot_id is None or not gate.answers:
        return {"questions": 0}, "none"
    place = answers_path(work.folder, snapshot_id)
    told: Metadata = {"snapshot": snapshot_id, "dagster/row_count": len(gate.answers), "dagster/uri": place.as_uri()}
    return told | questions_metadata(gate), digest(comparable_bytes(work.folder, snapshot_id))


ASSETS_BY_LEVEL = {0: LEVEL_0, 1: LEVEL_1, 2: LEVEL_2, 3: LEVEL_3, 4: LEVEL_4}
ALL_ASSETS = [asset for assets in ASSETS_BY_LEVEL.values() for asset in assets]


def freshness_policy() -> dg.FreshnessPolicy | None:
    """The policy of the setting automation.publish_within_hours; None by default, because for Dagster a snapshot ages
    even if its sources are unchanged. The check snapshot_fresh compares it with the sources of each collection."""
    hours = load_settings().automation.publish_within_hours
    return None if hours is None else dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=hours))


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
    freshness_policy=freshness_policy(),
    check_specs=snapshot_check_specs(),
    description="A consistent and checked set of parts, published as one immutable snapshot (DuckDB, search files). "
    "CURRENT is replaced last, so readers see the old or the new snapshot and never wait. Equal parts publish nothing "
    "new.",
)
def index_snapshot(
    context: dg.AssetExecutionContext,
    data: DataFolderResource,
    build: BuildOptions,
    snapshots: SnapshotDuckDB,
    search_files: SearchFilesResource,
) -> MaterializedAndChecked:
    with asset_run(context, data, build) as run:
        work, gate, questions = run.work, RetrievalGate(run.work), QuestionsGate(run.work)
        try:
            published = publish(
                work, snapshots.writing, lambda snapshot_id: gate(snapshot_id) or questions(snapshot_id)
            )
        except PublishBlocked as blocked:
            yield check_result(blocked.checks)
            if gate.ndcg is not None:
                yield retrieval_result(gate)
            yield questions_result(questions)
            raise
        checks = [
            check_result(published.checks),
            understood_result(work, published.manifest),
            steady_result(work, published.manifest),
            retrieval_result(gate),
            questions_result(questions),
            nearest_result(published.manifest, search_files),
            rebuild_result(work),
        ]
        yield from checks
        seconds = round(run.timer.seconds, 3)
        asset_done(work, "index_snapshot", seconds, rows=published.manifest.rows["chunks"], checks=checks)
        database = work.folder.database(published.manifest.snapshot_id)
        context.log.info(publish_summary(work, published))
        log_answers(context, questions)
        metadata = snapshot_metadata(work, published, seconds) | retrieval_metadata(context, gate)
        metadata |= lineage_metadata(lineage_counts(database))
        metadata |= other_files_metadata(read_other_files(work.folder)) | run.computed(seconds, published.new)
        yield dg.MaterializeResult(data_version=dg.DataVersion(published.manifest.content), metadata=metadata)
