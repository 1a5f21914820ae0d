"""Component type `monjyu_assets.ZoteroLibraryComponent`: a collection of the works in a Zotero library."""

from __future__ import annotations

import dagster as dg
from dagster.components.component_scaffolding import scaffold_component
from pydantic import BaseModel, Field

from monjyu_assets.components.corpus_component import name_of_folder
from monjyu_assets.components.declared_collection import DeclaredCollection, absolute, place_of
from monjyu_assets.work.declarations import Declaration
from monjyu_core.storage.collection import DEFAULT_LEVEL
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.ids import check_collection_name


class ZoteroParams(BaseModel):
    """Options of `dg scaffold defs monjyu_assets.ZoteroLibraryComponent PATH`."""

    library: str = Field("~/Zotero", description="Zotero's data folder, or a library exported with its files.")
    name: str = Field("", description="The collection's name; that of the new folder if not given.")
    level: int = Field(DEFAULT_LEVEL, description="The level that the collection is kept at.")


class ZoteroScaffolder(dg.Scaffolder[ZoteroParams]):
    @classmethod
    def get_scaffold_params(cls) -> type[ZoteroParams]:
        return ZoteroParams

    def scaffold(self, request: dg.ScaffoldRequest[ZoteroParams]) -> None:
        params = request.params
        name = check_collection_name(params.name or name_of_folder(request.target_path.name))
        scaffold_component(request, {"name": name, "library": params.library, "level": params.level})


@dg.scaffold_with(ZoteroScaffolder)
class ZoteroLibraryComponent(DeclaredCollection):
    """A collection of the works in a Zotero library, which is only read. Before each run the works are brought into
    `papers/NAME`, as `monjyu import zotero` does; the sensor `watch_sources` sees when the library has changed."""

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
