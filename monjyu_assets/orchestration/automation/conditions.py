"""Conditions under which assets follow their inputs, once a person or a backfill has remade those.

They compare data versions, so an equal result ends the cascade. They wait for shards, so that many of them make one
graph and one snapshot. They never fill what is missing, and levels beyond 1 need the collection's permission.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import dagster as dg
from dagster import AutomationCondition as When

from monjyu_assets.orchestration.automation.watching import is_being_indexed, may_follow
from monjyu_assets.publishing.closed_set import RESTS_ON, by_shard
from monjyu_assets.stages.shared.work import Work
from monjyu_core.errors import MonjyuError
from monjyu_core.storage.collection import target_level
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.schemas import LEVEL_NAMES

BASELINE = dg.AssetSelection.groups(LEVEL_NAMES[0])
OF_COLLECTIONS = dg.AssetSelection.assets(*(asset for asset in RESTS_ON if not by_shard(asset)))


class RequestedThisTick(When[dg.AssetKey]):
    """Whether this tick asks for a run of the asset, in any run.

    (Dagster's `will_be_requested` does not see assets of other partitions, whose runs are not the target's.)
    """

    @property
    def name(self) -> str:
        return "requested_this_tick"

    def evaluate(self, context: dg.AutomationContext[Any]) -> dg.AutomationResult[Any]:
        asked = context.request_subsets_by_key.get(context.key)
        return dg.AutomationResult(context, context.get_empty_subset() if asked is None else asked)


class MayFollow(When[dg.AssetKey]):
    """Whether the collection is kept at the level, allows it to follow changes, and is not being indexed."""

    def __init__(self, level: int) -> None:
        self.level = level

    @property
    def name(self) -> str:
        return f"level_{self.level}_may_follow"

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MayFollow) and other.level == self.level

    def evaluate(self, context: dg.AutomationContext[Any]) -> dg.AutomationResult[Any]:
        candidates = context.candidate_subset
        keys = {str(key) for key in candidates.expensively_compute_partition_keys()}
        answers = {name: follows(DataFolder.default(), name, self.level) for name in {k.split("|")[0] for k in keys}}
        allowed = {key for key in keys if answers[key.split("|")[0]]}
        return dg.AutomationResult(context, candidates.compute_intersection_with_partition_keys(allowed))


def follows(data: DataFolder, name: str, level: int) -> bool:
    """Whether a level of a collection may follow changes now; an unreadable collection may not."""
    work = Work(data, name)
    try:
        kept = target_level(work.record) >= level
        return kept and may_follow(work, level) and not is_being_indexed(work.folder)
    except MonjyuError:
        return False


@cache
def shard_condition(level: int) -> When[Any]:
    """For an asset by shard: only shards whose inputs have another data version, once those are done."""
    changed: When[Any] = When.any_deps_match(When.data_version_changed() | When.will_be_requested())
    if level <= 1:
        changed = changed | When.code_version_changed()
    waiting = When.any_deps_in_progress() | When.any_deps_match(RequestedThisTick()).allow(OF_COLLECTIONS)
    ready = ~When.any_deps_missing() & ~waiting & ~When.in_progress()
    return (changed.since_last_handled() & ready & ~When.missing() & MayFollow(level)).with_label(
        "follow changed shards"
    )


@cache
def collection_condition(level: int, *, publishes: bool = False) -> When[Any]:
    """For an asset of a collection: once, when no shard is in progress or requested any more. Publishing needs only
    level 0, as a collection may stay there."""
    changed: When[Any] = When.any_deps_match(When.data_version_changed())
    along = When.any_deps_match(When.will_be_requested()).allow(OF_COLLECTIONS)
    waiting = When.any_deps_in_progress() | When.any_deps_match(RequestedThisTick()).ignore(OF_COLLECTIONS)
    missing = When.any_deps_match(When.missing())
    ready = ~(missing.allow(BASELINE) if publishes else missing) & ~waiting & ~When.in_progress()
    if level <= 1 and not publishes:
        changed = changed | When.code_version_changed()
    # An input requested along with it is handled now or never: its result may be equal.
    trigger = changed.since_last_handled() | along
    label = "publish what changed" if publishes else "rebuild once for all changed shards"
    return (trigger & ready & ~When.missing() & MayFollow(level)).with_label(label)
