"""Jobs `level_0` to `level_4`: bring one collection to a level and publish it, by one press in the launchpad.

A Dagster job takes assets of one partition definition only, so these do as `reindex` does: their one op runs the jobs
of the level, one after the other, in its process.
"""

from pathlib import Path
from typing import Any

import dagster as dg

from monjyu_assets.indexing.index_result import IndexResult
from monjyu_assets.indexing.requests import downgrade_collection, index_collection
from monjyu_assets.orchestration.automation.reindex import done_metadata
from monjyu_assets.orchestration.launchpad.level_form import LevelForm, chosen_name
from monjyu_assets.orchestration.progress import reporter
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.run_tags import COLLECTION_TAG, LAUNCHED_BY_TAG, STARTED_BY_TAG
from monjyu_assets.orchestration.telling.failing import causes_first
from monjyu_assets.publishing.candidate import newest_level
from monjyu_assets.publishing.closed_set import HIGHEST
from monjyu_core.errors import ConfigurationError
from monjyu_core.observability import set_up_observability
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.collection import load_record, target_level
from monjyu_core.storage.folders import DataFolder

WHAT = {
    0: "papers parsed, cut into chunks and embedded, their citations",
    1: "and noun phrases, their graph and its communities",
    2: "and entities with their relationships and communities",
    3: "and reports of these communities",
    4: "and claims",
}
"""What each level adds."""


def level_job(level: int) -> dg.JobDefinition:
    """The job of a level. Its configuration is the form itself, not the tree of ops below it."""
    name = f"bring_to_level_{level}"

    @dg.op(name=name, description="Runs the jobs of the level in order, each a run of its own with its assets' events.")
    def bring_to_level(context: dg.OpExecutionContext, config: LevelForm, data: DataFolderResource) -> None:
        with causes_first():
            done = _bring(context, config, data.folder(), level)
        context.log.info(_in_words(done))
        context.add_output_metadata({"runs": _runs(context)} | done_metadata(done))

    @dg.config_mapping
    def form(config: LevelForm) -> dict[str, Any]:
        return {"ops": {name: {"config": config.model_dump()}}}

    @dg.job(
        name=f"level_{level}",
        config=form,
        description=f"START HERE. Brings one collection to level {level} and publishes it: "
        f"{' '.join(WHAT[one] for one in range(level + 1))}. Only what changed is computed. The form may stay as it is "
        "where there is one collection.",
    )
    def job() -> None:
        bring_to_level()

    return job


LEVEL_JOBS = [level_job(level) for level in range(HIGHEST + 1)]


def _bring(context: dg.OpExecutionContext, form: LevelForm, data: DataFolder, level: int) -> IndexResult:
    set_up_observability(load_settings())
    name = chosen_name(data, form)
    context.instance.add_run_tags(context.run_id, {COLLECTION_TAG: name})
    context.log.info(f"Bringing {name} to level {level}.")
    tags = {STARTED_BY_TAG: context.run_id, LAUNCHED_BY_TAG: context.job_name}
    progress, say = reporter(context.log), context.log.warning
    kept = _kept_level(data, name)
    if kept > level and form.downgrade:
        return downgrade_collection(data, name, level, progress=progress, say=say, run_tags=tags)
    if kept > level:
        raise ConfigurationError(
            f"{name} is kept at level {kept}, above level {level}; nothing was done.",
            f"The job level_{kept} brings it up to date. To drop the levels above {level}, set `downgrade: true`.",
        )
    return index_collection(
        data,
        [Path(source) for source in form.sources],
        name,
        level=level,
        allow_deletes=form.allow_deletes,
        max_cost_usd=form.max_cost_usd or None,
        progress=progress,
        say=say,
        run_tags=tags,
    )


def _in_words(done: IndexResult) -> str:
    counts = done.papers
    moved = f"{counts.added} added, {counts.changed} changed, {counts.deleted} deleted, {counts.failed} failed"
    behind = f" Left behind: {'; '.join(done.behind)}." if done.behind else ""
    return (
        f"{done.collection} is published at level {done.level} as {done.snapshot_id}: {counts.total} papers ({moved}), "
        f"{done.chunks} chunks, in {done.seconds:.1f} s.{behind}"
    )


def _runs(context: dg.OpExecutionContext) -> dg.MarkdownMetadataValue:
    """Links to the runs that this one has made, in order."""
    made = context.instance.get_runs(dg.RunsFilter(tags={STARTED_BY_TAG: context.run_id}))
    links = [f"[{run.job_name}](/runs/{run.run_id})" for run in reversed(made)]
    return dg.MetadataValue.md(", ".join(links) or "none: all is as it was")


def _kept_level(data: DataFolder, name: str) -> int:
    """The level that the collection is kept at, by its record, its snapshot or its collection.yaml; 0 for a new one."""
    record = load_record(data.collection(name))
    return max(target_level(record), newest_level(data.collection(name))) if record else 0
