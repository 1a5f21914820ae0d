"""Sensor `watch_sources`: looks at the sources of all collections and starts `reindex` where something changed."""

import dagster as dg

from monjyu_assets.orchestration.automation.orphans import end_orphans
from monjyu_assets.orchestration.automation.reindex import reindex, reindex_request
from monjyu_assets.orchestration.automation.watching import Watched, watch_collection, watched_collections
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_core.settings.settings import load_settings

# The pages of sensors and schedules show plain text: no Markdown here.
DESCRIPTION = """Looks at the sources of every collection: new, changed, moved and deleted files, and new folders in
papers/, each of which begins a collection. Where something changed it starts the job reindex for the collection.
A change is tried once: if its run fails, the next change, the schedule nightly or you start another. A source that
cannot be read, or from which more papers are gone than publish.delete_share allows, makes the tick fail with the
reason, and nothing is touched; the other collections go on. Levels 0 and 1 call no chat model; levels beyond them are
kept up, once built, where no model is paid for them or automation.auto_refresh_levels names them. Off until 'monjyu
automation on' or the switch here."""


@dg.sensor(
    name="watch_sources",
    job=reindex,
    minimum_interval_seconds=load_settings().automation.interval_seconds,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description=DESCRIPTION,
)
def watch_sources(context: dg.SensorEvaluationContext, data: DataFolderResource) -> dg.SensorResult | dg.SkipReason:
    folder = data.folder()
    for run_id in end_orphans(context.instance, folder):
        context.log.warning(f"Run {run_id} had no process any more and was ended.")
    indexed = folder.collections()
    seen = [
        _unless_tried(context.instance, watch_collection(folder, name), known=name in indexed)
        for name in watched_collections(folder)
    ]
    for watched in seen:
        if watched.message:
            context.log.info(f"{watched.name}: {watched.state}: {watched.message}")
    changed = [watched for watched in seen if watched.state == "changed"]
    if changed:
        known = set(context.instance.get_dynamic_partitions(str(collections.name)))
        new = [watched.name for watched in changed if watched.name not in known]
        return dg.SensorResult(
            run_requests=[reindex_request(watched.name, watched.key) for watched in changed],
            dynamic_partitions_requests=[collections.build_add_request(new)] if new else [],
        )
    stopped = [watched for watched in seen if watched.state == "stopped"]
    if stopped:
        raise dg.Failure("; ".join(f"{watched.name}: {watched.message}" for watched in stopped))
    return dg.SkipReason("; ".join(f"{w.name}: {w.message or 'nothing changed'}" for w in seen) or "No collections.")


def _unless_tried(instance: dg.DagsterInstance, watched: Watched, *, known: bool) -> Watched:
    """A change whose run has failed or is on its way is not asked for again. `known`: the collection is published."""
    if watched.state != "changed":
        return watched
    runs = instance.get_runs(dg.RunsFilter(tags={"dagster/run_key": watched.key}), limit=1)
    if not runs:
        return watched
    if runs[0].is_success and not known:
        return Watched(watched.name, "same", "Its index was deleted; `monjyu index` begins it again, or a change.")
    if runs[0].is_finished:
        what = f"{watched.message}, but run {runs[0].run_id} for it ended as {runs[0].status.value}: see its log."
        return Watched(watched.name, "stopped", what)
    return Watched(watched.name, "busy", "Its run is on the way.")


follow_changes = dg.AutomationConditionSensorDefinition(
    "follow_changes",
    target=dg.AssetSelection.all(),
    use_user_code_server=True,  # the conditions ask the collections, so they are of this code
    default_status=dg.DefaultSensorStatus.STOPPED,
    minimum_interval_seconds=load_settings().automation.interval_seconds,
    description="When shards were made anew by hand or by a backfill, what rests on them is made too: only shards "
    "whose inputs have another data version, then each collection-level asset once, then one snapshot. It fills "
    "nothing that is missing, and leaves collections alone that are being indexed. Levels 2 to 4 follow where no model "
    "is paid for them or the collection's automation.auto_refresh_levels names them. Off until 'monjyu automation on' "
    "or the switch here.",
)
