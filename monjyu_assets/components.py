"""Component types for collections. Each component declares a collection with a job; all share one set of assets."""

import os
import re
from abc import abstractmethod
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from dagster._core.storage.tags import PARTITION_NAME_TAG
from dagster.components.component_scaffolding import scaffold_component
from pydantic import BaseModel, Field

from monjyu_assets.orchestration.assets.index_snapshot import index_snapshot
from monjyu_assets.orchestration.jobs import assets_of_level, assets_up_to
from monjyu_assets.orchestration.partitions import CHANGE_TAG, COLLECTION_TAG, add_collections
from monjyu_assets.orchestration.watching import watch_collection
from monjyu_assets.work.work import Declaration, declare
from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.settings import load_settings, merge
from monjyu_core.storage.collection import DEFAULT_LEVEL
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.ids import check_collection_name
from monjyu_core.values import Values

_holders: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The location of the component that adds the shared assets, by the state of its component tree."""


class DeclaredCollection(dg.Component, dg.Model, dg.Resolvable):
    """A collection. The assets are the same for all collections, which are their partitions: the first component of a
    project adds them, and each component adds a job `index_NAME`."""

    name: str = Field(description="The collection's name: a-z, 0-9, _ and -. It is a partition of the assets.")
    level: int = Field(DEFAULT_LEVEL, ge=0, le=4, description="The level that the collection is kept at.")
    models: dict[str, str] = Field(
        {}, description="By role (extract, report, embed, …), a name under `models` of monjyu.yaml."
    )
    settings: Values = Field(
        {}, description="Settings of this collection, as in docs/configure.md. They override all other settings."
    )
    checks: Values = Field({}, description="Settings `checks` of this collection: thresholds, questions.")
    schedule: str | None = Field(
        None, description="When the collection is updated, as a cron expression, in automation.time_zone."
    )

    @abstractmethod
    def declaration(self, context: dg.ComponentLoadContext, data: DataFolder) -> Declaration:
        """The declaration of the component, in this data folder."""

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """The Dagster definitions of the component. Nothing is written and no source is checked, so that a missing disk
        stops a run, not the project."""
        data = DataFolder.default()
        declaration = self.declaration(context, data)
        load_settings(dict(declaration.settings))  # raises for invalid settings, so that `dg check defs` reports them
        declare(data, declaration)
        schedules = [schedule_of(declaration, self.schedule)] if self.schedule else []
        own = dg.Definitions(jobs=[index_job(declaration)], schedules=schedules)
        return dg.Definitions.merge(_shared(), own) if _holds_the_assets(context) else own

    def own_settings(self) -> Values:
        """The collection's settings, combined from all attributes."""
        roles = {role: {"engine": "llm", "model": model} for role, model in self.models.items() if role != "embed"}
        embedding = {"remote": self.models["embed"]} if "embed" in self.models else {}
        given = {"roles": roles, "embedding": embedding, "checks": self.checks}
        return merge({name: values for name, values in given.items() if values}, self.settings)


def absolute(context: dg.ComponentLoadContext, path: str) -> Path:
    """The absolute path of a path in `defs.yaml`, which is relative to the project's folder."""
    return Path(os.path.normpath(context.project_root.absolute() / Path(path).expanduser()))


def place_of(context: dg.ComponentLoadContext) -> str:
    """The file that declares the collection."""
    path = context.path
    return str(next((file for name in ("defs.yaml", "component.py") if (file := path / name).is_file()), path))


def _shared() -> dg.Definitions:
    from monjyu_assets import definitions

    return definitions.defs


def _holds_the_assets(context: dg.ComponentLoadContext) -> bool:
    """Whether this component adds the shared assets, which is true for the first one that is built, also when it is
    rebuilt.

    Dagster accepts an asset only once. It copies a component's assets to record its file, so it would not notice that
    all components return the same ones.
    """
    return bool(
        _holders.setdefault(context.component_tree.state_tracker, context.component_loc) == context.component_loc
    )


def index_job(declaration: Declaration) -> UnresolvedAssetJobDefinition:
    """A job that builds the declared collection up to its level. It is meant for the collection's partition only."""
    level = declaration.level
    return dg.define_asset_job(
        f"index_{_identifier(declaration.name)}",
        assets_of_level(level),
        executor_def=dg.in_process_executor,
        tags={COLLECTION_TAG: declaration.name, PARTITION_NAME_TAG: declaration.name},
        description=f"Build the collection {declaration.name}, declared in {declaration.place}, up to level {level}. "
        "If launched by hand, the job also calls paid models that the level needs, within the caps of `spending`; its "
        "schedule does so only if the collection allows it.",
    )


def schedule_of(declaration: Declaration, cron: str) -> dg.ScheduleDefinition:
    """A schedule that is on by default, because a schedule in a file is meant to run."""
    name = declaration.name

    @dg.schedule(
        name=f"{_identifier(name)}_schedule",
        job_name=f"index_{_identifier(name)}",
        cron_schedule=cron,
        execution_timezone=load_settings().automation.time_zone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=f"Updates the collection {name}, as declared in {declaration.place}.",
    )
    def scheduled(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        watched = watch_collection(DataFolder.default(), name)
        if watched.state != "changed":
            return dg.SkipReason(watched.message or "Nothing changed.")
        add_collections(context.instance, [name])
        keys = [asset.key for asset in (*assets_up_to(watched.level), index_snapshot)]
        run_key = f"{name}-{context.scheduled_execution_time:%Y-%m-%dT%H:%M}"
        tags = {COLLECTION_TAG: name, CHANGE_TAG: watched.key}
        return dg.RunRequest(run_key, partition_key=name, asset_selection=keys, tags=tags)

    return scheduled


def _identifier(name: str) -> str:
    """A name as an identifier for Dagster, whose names contain no hyphens."""
    return name.replace("-", "_")


def _scaffolder(options: type[BaseModel]) -> type[dg.Scaffolder[Any]]:
    """A scaffolder that writes `options` as a component's attributes. The name defaults to that of the new folder."""

    class CollectionScaffolder(dg.Scaffolder[Any]):
        @classmethod
        def get_scaffold_params(cls) -> type[BaseModel]:
            return options

        def scaffold(self, request: dg.ScaffoldRequest[Any]) -> None:
            given = request.params.model_dump()
            folder = re.sub(r"[^a-z0-9_-]+", "-", request.target_path.name.lower()).strip("-_")
            scaffold_component(request, {"name": check_collection_name(given.pop("name") or folder)} | given)

    return CollectionScaffolder


# Component type `monjyu_assets.CorpusComponent`: a collection of folders and files.
class CorpusParams(BaseModel):
    """Options of `dg scaffold defs monjyu_assets.CorpusComponent PATH`."""

    sources: list[str] = Field(["papers"], description="Folders or files, from the project's folder.")
    name: str = Field("", description="The collection's name; that of the new folder if not given.")
    level: int = Field(DEFAULT_LEVEL, description="The level that the collection is kept at.")


@dg.scaffold_with(_scaffolder(CorpusParams))
class CorpusComponent(DeclaredCollection):
    """A collection of papers in folders and files, as a partition of Monjyu's assets, with a job `index_NAME` that
    updates it to its sources and level. From the next run on, its attributes override those that `monjyu index` has
    stored for the collection."""

    sources: list[str] = Field(description="Folders or files, absolute or from the project's folder.")
    include: list[str] = Field([], description="Patterns: only files of the folders that match one are papers.")
    exclude: list[str] = Field([], description="Patterns: files that match one are not papers.")

    def declaration(self, context: dg.ComponentLoadContext, data: DataFolder) -> Declaration:
        if not self.sources:
            raise ConfigurationError(f"The corpus {self.name!r} has no sources.", "Name a folder or a file.")
        return Declaration(
            check_collection_name(self.name),
            tuple(absolute(context, source) for source in self.sources),
            self.level,
            tuple(self.include),
            tuple(self.exclude),
            self.own_settings(),
            place_of(context),
        )


# Component type `monjyu_assets.ZoteroLibraryComponent`: a collection of the works in a Zotero library.
class ZoteroParams(BaseModel):
    """Options of `dg scaffold defs monjyu_assets.ZoteroLibraryComponent PATH`."""

    library: str = Field("~/Zotero", description="Zotero's data folder, or a library exported with its files.")
    name: str = Field("", description="The collection's name; that of the new folder if not given.")
    level: int = Field(DEFAULT_LEVEL, description="The level that the collection is kept at.")


@dg.scaffold_with(_scaffolder(ZoteroParams))
class ZoteroLibraryComponent(DeclaredCollection):
    """A collection of the works in a Zotero library, which is only read. Before each run the works are imported into
    `papers/NAME`, as `monjyu import zotero` does; the sensor `watch_sources` detects changes of the library."""

    library: str = Field(
        description="Zotero's data folder (with zotero.sqlite), or a library exported as RDF, JSON or BibTeX."
    )

    def declaration(self, context: dg.ComponentLoadContext, data: DataFolder) -> Declaration:
        name = check_collection_name(self.name)
        return Declaration(
            name,
            (data.papers / name,),
            self.level,
            settings=self.own_settings(),
            place=place_of(context),
            library=absolute(context, self.library),
        )
