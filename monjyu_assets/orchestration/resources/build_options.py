"""Resource `build`: the launch form of a build, and the lock of the collection during a run."""

import re
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import dagster as dg
import pyarrow as pa
from pydantic import Field, PrivateAttr

from monjyu_assets.libraries.syncing import sync_library
from monjyu_assets.orchestration.partitions import (
    CHANGE_TAG,
    COLLECTION_TAG,
    add_collections,
    assets_of_run,
    is_automatic,
)
from monjyu_assets.orchestration.progress import reporter
from monjyu_assets.orchestration.resources.data_folder import DataFolderResource
from monjyu_assets.planning.targets import (
    cap_of,
    change_key,
    goal_of_request,
    index_lock,
    is_locked_here,
    lowered_record,
    working_towards,
)
from monjyu_assets.publishing.candidate import newest_level
from monjyu_assets.work.closed_set import RESTS_ON, drop_levels_above, level_of
from monjyu_assets.work.run_limits import NoCalls, spending_of, trying_again, without_scan
from monjyu_assets.work.work import Work, declaration_of
from monjyu_core.errors import ConfigurationError
from monjyu_core.storage.collection import CollectionRecord, load_record, target_level
from monjyu_core.storage.ids import check_collection_name

LEVEL_JOB = re.compile(r"level_(\d)")
SNAPSHOT = dg.AssetKey("index_snapshot")


class BuildOptions(dg.ConfigurableResource):  # type: ignore[type-arg]
    """The options of a build. By default a build updates the collection to its sources.

    The first asset of a run locks the collection until the run ends, so runs of one collection are sequential. If a
    command executes the run in its own process, the command already has the lock.
    """

    data: dg.ResourceDependency[DataFolderResource]
    sources: list[str] = Field(
        default=[],
        description="Folders or files of papers to add, on the machine that runs jobs. Empty: the sources that the "
        "collection has, or papers/NAME in the data folder.",
    )
    allow_deletes: bool = Field(
        default=False, description="Continue even if a scan would delete more papers than publish.delete_share allows."
    )
    downgrade: bool = Field(
        default=False,
        description="If the collection is at a higher level than the job's, drop the levels above without scanning the "
        "sources.",
    )
    max_cost_usd: float = Field(
        default=0.0,
        ge=0,
        description="Limit on the cost of all model calls, in US dollars. 0: the limit of the settings.",
    )
    _until_end: ExitStack = PrivateAttr(default_factory=ExitStack)
    _begun: bool = PrivateAttr(default=False)

    def begin(self, context: dg.AssetExecutionContext) -> None:
        """Lock the collection and set the run's goal. Does nothing after the first asset of the run."""
        if self._begun:
            return
        self._begun = True
        work = Work(
            self.data.folder(), context.partition_key, reporter(context.log), context.log.warning, context.run.run_id
        )
        if is_locked_here(work.folder):
            return
        if COLLECTION_TAG not in context.run.tags:
            context.instance.add_run_tags(context.run.run_id, {COLLECTION_TAG: work.name})
        check_collection_name(work.name)
        sources = [Path(source) for source in self.sources]
        if not work.folder.root.is_dir():  # an invalid request must not create a folder
            goal_of_request(work, sources, None)(CollectionRecord(name=work.name) if sources else work.record)
        add_collections(context.instance, [work.name])
        automatic = is_automatic(context.run)
        enter = self._until_end.enter_context
        enter(index_lock(work, context.log.info))
        enter(trying_again(not automatic))
        if SNAPSHOT in assets_of_run(context) or self.sources:
            self._aim(context, work, automatic=automatic)
        else:
            enter(spending_of(cap_of(work, self.max_cost_usd or None)))

    def _aim(self, context: dg.AssetExecutionContext, work: Work, *, automatic: bool) -> None:
        """Set the run's goal, which its publish writes to the collection's record."""
        enter, level = self._until_end.enter_context, _level_of(context)
        declaration = declaration_of(work.folder)
        if declaration is not None and declaration.library is not None:
            synced = sync_library(work.data, "zotero", declaration.library, work.name, say=context.log.warning)
            context.log.info(f"Library: {synced.model_dump_json()}")
        stored = load_record(work.folder)
        kept = max(target_level(stored), newest_level(work.folder)) if stored else 0
        if level is not None and kept > level and not automatic:
            if not self.downgrade:
                raise ConfigurationError(
                    f"{work.name} is at level {kept}, above level {level}; nothing was done.",
                    f"The job level_{kept} updates it. To drop the levels above {level}, set `downgrade: true`.",
                )
            enter(working_towards(work, partial(lowered_record, level=level)))
            enter(without_scan())
            enter(spending_of(NoCalls()))
            drop_levels_above(work.parts, level)
            return
        asked = goal_of_request(work, [Path(source) for source in self.sources], None if automatic else level)
        enter(working_towards(work, asked, new=bool(self.sources) or declaration is not None))
        enter(spending_of(cap_of(work, self.max_cost_usd or None)))

    def saw(self, context: dg.AssetExecutionContext, work: Work, scanned: pa.Table) -> None:
        """Tag the run with the change that its scan found, so that the sensor starts no second run for it."""
        context.instance.add_run_tags(context.run.run_id, {CHANGE_TAG: change_key(work, scanned)})

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        self._until_end.close()


def _level_of(context: dg.AssetExecutionContext) -> int | None:
    """The level of a job `level_N` that runs all assets up to its level; None for any other run."""
    matched = LEVEL_JOB.fullmatch(context.job_name)
    level = int(matched[1]) if matched else None
    whole = level is not None and all(
        dg.AssetKey(asset) in assets_of_run(context) for asset in RESTS_ON if level_of(asset) <= level
    )
    return level if whole else None
