"""Job `reindex`: brings one collection up to date with its sources, like `monjyu index`, in this run's process."""

import dagster as dg

from monjyu_assets.indexing.declarations import declaration_of
from monjyu_assets.indexing.index_result import IndexResult
from monjyu_assets.indexing.run import bring_up, index_lock, working_towards
from monjyu_assets.libraries.syncing import sync_library
from monjyu_assets.orchestration.assets.paper_manifest import ALLOW_DELETES_TAG
from monjyu_assets.orchestration.automation.watching import automatic_level
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.results import Metadata
from monjyu_assets.orchestration.run_tags import COLLECTION_TAG, LAUNCHED_BY_TAG, STARTED_BY_TAG
from monjyu_assets.orchestration.telling.failing import causes_first


@dg.op(
    tags={"kind": "reindex"},
    description="Scan the sources; where something changed, run the jobs of the shards concerned, then those of the "
    "collection, and publish once. Each is a run of its own with its assets' events, made in this process.",
)
def bring_to_sources(context: dg.OpExecutionContext, data: DataFolderResource) -> None:
    bring(context, data, context.partition_key)


def bring(context: dg.OpExecutionContext, data: DataFolderResource, name: str, *, asked_for: bool = False) -> None:
    """Bring a collection up to date in this run's process. `asked_for`: up to the level it is kept at, paid models
    included; else as far as it may go by itself."""
    work = data.work(name, context.log)
    declaration = declaration_of(work.folder)
    work.run_tags = {STARTED_BY_TAG: context.run_id, LAUNCHED_BY_TAG: context.job_name}
    allow = context.run.tags.get(ALLOW_DELETES_TAG) == "true"
    with causes_first(), index_lock(work, context.log.info):
        if declaration and declaration.library:
            synced = sync_library(work.data, "zotero", declaration.library, name, say=context.log.warning)
            context.log.info(f"Library: {synced.model_dump_json()}")
        with working_towards(work, lambda record: record, new=declaration is not None):
            sources = ", ".join(work.record.sources)
            level = None if asked_for else automatic_level(work)
            done = bring_up(work, sources, allow_deletes=allow, asked_for=asked_for, level=level, again=asked_for)
    context.log.info(done.model_dump_json(exclude={"failures"}))
    context.add_output_metadata(done_metadata(done))


def done_metadata(done: IndexResult) -> Metadata:
    """The outcome in numbers, for the page of the run."""
    counts = done.papers.model_dump()
    return {
        "snapshot_id": done.snapshot_id,
        "level": done.level,
        "chunks": done.chunks,
        "seconds": done.seconds,
        **{f"papers_{name}": count for name, count in counts.items()},
    }


@dg.job(
    partitions_def=collections,
    description="Bring one collection to its sources: what `watch_sources` and `nightly` start, and you may too. "
    f"A scan that would delete much stops it unless the run has the tag `{ALLOW_DELETES_TAG}: true`.",
)
def reindex() -> None:
    bring_to_sources()


def reindex_request(name: str, run_key: str | None) -> dg.RunRequest:
    return dg.RunRequest(run_key=run_key, partition_key=name, tags={COLLECTION_TAG: name})
