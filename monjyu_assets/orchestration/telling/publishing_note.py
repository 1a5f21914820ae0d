"""Who publishes what an asset makes: none does so by itself, and a level made alone leaves readers as they were."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import dagster as dg
from dagster._core.storage.tags import BACKFILL_ID_TAG as BACKFILL_TAG

from monjyu_assets.orchestration.run_tags import is_commands_own
from monjyu_assets.orchestration.workers.order_taken import ORDER_TAG
from monjyu_assets.publishing.closed_set import RESTS_ON

SNAPSHOT = dg.AssetKey("index_snapshot")


def published_by(level: int) -> str:
    """For the metadata of an asset of the level."""
    return f"Not by itself: the job level_{level} makes what is missing and publishes; so does index_snapshot after it."


def note_on_publishing(context: dg.AssetExecutionContext, level: int) -> None:
    """Say at the end of a run's last asset that the run publishes nothing, unless its backfill or command does."""
    selected = context.job_def.asset_layer.selected_asset_keys
    last = [name for name in RESTS_ON if dg.AssetKey(name) in selected][-1:]
    if [context.asset_key.path[-1]] == last and not _goes_on(context, selected):
        context.log.warning(
            "This run publishes nothing: readers keep the snapshot they have. "
            f"The job level_{level} makes what is missing and publishes; to publish what is there, materialise "
            "index_snapshot."
        )


def _goes_on(context: dg.AssetExecutionContext, selected: AbstractSet[dg.AssetKey]) -> bool:
    run = context.run
    if is_commands_own(run) or ORDER_TAG in run.tags:
        return True
    backfill = context.instance.get_backfill(run.tags[BACKFILL_TAG]) if BACKFILL_TAG in run.tags else None
    planned = (backfill.asset_selection if backfill else None) or ()
    return SNAPSHOT in {*selected, *planned}
