"""Asset `index_snapshot`: the published index that readers open."""

from datetime import timedelta

import dagster as dg

from monjyu_assets.orchestration.assets.asset_base import MaterializedAndChecked, asset_run
from monjyu_assets.orchestration.assets.level_0 import LEVEL_0
from monjyu_assets.orchestration.assets.level_1 import LEVEL_1
from monjyu_assets.orchestration.assets.level_2 import LEVEL_2
from monjyu_assets.orchestration.assets.levels_3_and_4 import LEVEL_3, LEVEL_4
from monjyu_assets.orchestration.assets.saved_answers import log_answers
from monjyu_assets.orchestration.checks.rebuild_check import rebuild_result
from monjyu_assets.orchestration.checks.snapshot_checks import (
    nearest_result,
    questions_result,
    retrieval_result,
    snapshot_check_specs,
    steady_result,
    understood_result,
    whole_result,
)
from monjyu_assets.orchestration.code_location import owners
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.reporting.asset_telemetry import asset_done
from monjyu_assets.orchestration.reporting.snapshot_metadata import (
    described_snapshot,
    lineage_metadata,
    other_files_metadata,
    published_told,
    retrieval_metadata,
    snapshot_metadata,
)
from monjyu_assets.orchestration.resources import (
    IO_MANAGER,
    BuildOptions,
    DataFolderResource,
    SearchFilesResource,
    SnapshotDuckDB,
)
from monjyu_assets.publishing.candidate import CODE_VERSION
from monjyu_assets.publishing.gates.questions_gate import QuestionsGate
from monjyu_assets.publishing.gates.retrieval_gate import RetrievalGate
from monjyu_assets.publishing.lineage import lineage_counts
from monjyu_assets.publishing.publish import PublishBlocked, publish
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.other_files import read_other_files

ASSETS_BY_LEVEL = {0: LEVEL_0, 1: LEVEL_1, 2: LEVEL_2, 3: LEVEL_3, 4: LEVEL_4}
ALL_ASSETS = [asset for assets in ASSETS_BY_LEVEL.values() for asset in assets]


def freshness_policy() -> dg.FreshnessPolicy | None:
    """By the setting, and none by default: for Dagster a snapshot ages although its sources stay as they are, and the
    collections are one asset. The check snapshot_fresh looks at the sources of each instead."""
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
    description="A closed and checked set of parts as one immutable snapshot (DuckDB, search files); CURRENT is "
    "swapped last: readers see the old one or the new one and never wait. Equal parts publish nothing new.",
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
            yield whole_result(blocked.checks)
            if gate.ndcg is not None:
                yield retrieval_result(gate)
            yield questions_result(questions)
            raise
        checks = [
            whole_result(published.checks),
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
        context.log.info(published_told(work, published))
        log_answers(context, questions)
        metadata = snapshot_metadata(work, published, seconds) | retrieval_metadata(context, gate)
        metadata |= lineage_metadata(lineage_counts(database))
        metadata |= other_files_metadata(read_other_files(work.folder)) | run.computed(seconds, published.new)
        yield dg.MaterializeResult(data_version=dg.DataVersion(published.manifest.content), metadata=metadata)
