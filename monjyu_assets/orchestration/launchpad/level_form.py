"""The form of a level's job, and the collection that it means."""

from pathlib import Path

import dagster as dg
from pydantic import Field

from monjyu_assets.orchestration.automation.watching import watched_collections
from monjyu_core.errors import ConfigurationError
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.ids import check_collection_name, collection_name_for


class LevelForm(dg.Config):
    """What a level's job is asked for. As it stands it brings the only collection to the level."""

    collection: str = Field(
        default="",
        description="The collection. May stay empty where there is only one, or where the name of the one source below "
        "shall be its name. A folder papers/NAME in the data folder is a collection, too.",
    )
    sources: list[str] = Field(
        default=[],
        description="Folders or files of papers to add, on the machine that runs jobs. Empty: the sources that the "
        "collection has, or papers/NAME.",
    )
    downgrade: bool = Field(
        default=False,
        description="For a collection kept at a higher level: drop the levels above this one. Sources are not looked "
        "at then.",
    )
    allow_deletes: bool = Field(
        default=False, description="Go on where a scan would delete more papers than publish.delete_share allows."
    )
    max_cost_usd: float = Field(
        default=0.0, ge=0, description="What all calls of models together may cost. 0: what the settings allow."
    )


def chosen_name(data: DataFolder, form: LevelForm) -> str:
    """The collection that the form means. ConfigurationError names those that there are."""
    known = watched_collections(data)
    listed = f"There are: {', '.join(known)}." if known else "There are none yet."
    if form.collection:
        name = check_collection_name(form.collection)
        if name in known or form.sources or (data.papers / name).is_dir():
            return name
        way = f"Or put its papers into {data.papers / name}, or name their folder in `sources`."
        raise ConfigurationError(f"There is no collection {name!r}.", f"{listed} {way}")
    if len(form.sources) == 1:
        return collection_name_for(Path(form.sources[0]).expanduser())
    if form.sources:
        raise ConfigurationError("Several sources need the name of a collection.", "Give it in `collection`.")
    if len(known) == 1:
        return known[0]
    if known:
        raise ConfigurationError("Which collection?", f"{listed} Give one in `collection`.")
    way = f"Put papers into {data.papers}/NAME, or name their folder in `sources`."
    raise ConfigurationError(f"There is no collection in {data.root} yet.", way)
