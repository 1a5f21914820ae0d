"""Asset `saved_answers`: what each snapshot answers to the saved questions.

A publish answers them before readers see its snapshot, and reports this asset. Materialising it answers what is missing
for the published snapshot: questions that were saved since.
"""

import dagster as dg

from monjyu_assets.orchestration.assets.asset_base import asset_run
from monjyu_assets.orchestration.checks.snapshot_checks import questions_metadata
from monjyu_assets.orchestration.code_location import owners
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.reporting.metadata_types import Metadata
from monjyu_assets.orchestration.resources import IO_MANAGER, BuildOptions, DataFolderResource
from monjyu_assets.publishing.gates.questions_gate import QuestionsGate
from monjyu_assets.publishing.publish import publish_lock
from monjyu_assets.work.work import Work
from monjyu_core.questions.question_record import read_questions
from monjyu_core.questions.recorded_answers import answers_path, forget_other_answers, kept_bytes
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
    description="What each snapshot answers to the saved questions (`monjyu questions`): text, citations with "
    "sentences and rectangles, the parts they come from, and whether it is as expected. A Parquet file a snapshot, "
    "which goes with it. A publish answers before readers see the snapshot and reports it here; materialising answers "
    "what was saved since.",
)
def saved_answers(
    context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions
) -> dg.MaterializeResult[None]:
    with asset_run(context, data, build) as run, publish_lock(run.work.folder):
        work, current = run.work, read_current(run.work.folder)
        gate = QuestionsGate(work)
        if current is not None and read_questions(work.folder).questions:
            gate.ask(current)
            gate.keep(current)
        forget_other_answers(work.folder, published(work.folder))
        metadata, version = answers_metadata(work, gate, current)
        return dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(version))


def log_answers(context: dg.AssetExecutionContext, gate: QuestionsGate) -> None:
    """Report the asset from the publish that has answered; nothing where nothing was asked."""
    if not gate.answers:
        return
    metadata, version = answers_metadata(gate.work, gate, gate.answers[0].snapshot_id)
    tags = {"dagster/data_version": version}
    event = dg.AssetMaterialization(NAME, partition=context.partition_key, metadata=metadata, tags=tags)
    context.log_event(event)


def answers_metadata(work: Work, gate: QuestionsGate, snapshot_id: str | None) -> tuple[Metadata, str]:
    """What is shown of a snapshot's answers, and their version: equal answers, equal version."""
    if snapshot_id is None or not gate.answers:
        return {"questions": 0}, "none"
    place = answers_path(work.folder, snapshot_id)
    told: Metadata = {"snapshot": snapshot_id, "dagster/row_count": len(gate.answers), "dagster/uri": place.as_uri()}
    return told | questions_metadata(gate), digest(kept_bytes(work.folder, snapshot_id))
