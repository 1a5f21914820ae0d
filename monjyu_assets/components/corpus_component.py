"""Component type `monjyu_assets.CorpusComponent`: a collection of folders and files."""

from __future__ import annotations

import re
from typing import Any

import dagster as dg
from dagster.components.component_scaffolding import scaffold_component
from pydantic import BaseModel, Field

from monjyu_assets.components.declared_collection import DeclaredCollection, absolute, place_of
from monjyu_assets.work.declarations import Declaration
from monjyu_core.errors import ConfigurationError
from monjyu_core.storage.collection import DEFAULT_LEVEL
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.ids import check_collection_name


class CorpusParams(BaseModel):
    """Options of `dg scaffold defs monjyu_assets.CorpusComponent PATH`."""

    sources: list[str] = Field(["papers"], description="Folders or files, from the project's folder.")
    name: str = Field("", description="The collection's name; that of the new folder if not given.")
    level: int = Field(DEFAULT_LEVEL, description="The level that the collection is kept at.")


class CorpusScaffolder(dg.Scaffolder[CorpusParams]):
    @classmethod
    def get_scaffold_params(cls) -> type[CorpusParams]:
        return CorpusParams

    def scaffold(self, request: dg.ScaffoldRequest[CorpusParams]) -> None:
        params = request.params
        name = params.name or name_of_folder(request.target_path.name)
        attributes: dict[str, Any] = {"name": check_collection_name(name), "sources": params.sources}
        scaffold_component(request, attributes | {"level": params.level})


@dg.scaffold_with(CorpusScaffolder)
class CorpusComponent(DeclaredCollection):
    """A collection of papers in folders and files, as a partition of Monjyu's assets, with a job `index_NAME` that
    brings it to its sources and level. What it says is what `monjyu index` remembers of a collection, and stands over
    that from the next run on."""

    sources: list[str] = Field(description="Folders or files, absolute or from the project's folder.")
    include: list[str] = Field([], description="Patterns: only files of the folders that fit one are papers.")
    exclude: list[str] = Field([], description="Patterns: files that fit one are no papers.")

    def declaration(self, context: dg.ComponentLoadContext, data: DataFolder) -> Declaration:
        if not self.sources:
            raise ConfigurationError(f"The corpus {self.name!r} names no sources.", "Name a folder or a file.")
        return Declaration(
            check_collection_name(self.name),
            tuple(absolute(context, source) for source in self.sources),
            self.level,
            tuple(self.include),
            tuple(self.exclude),
            self.own_settings(),
            place_of(context),
        )


def name_of_folder(folder: str) -> str:
    return re.sub(r"[^a-z0-9_-]+", "-", folder.lower()).strip("-_")
