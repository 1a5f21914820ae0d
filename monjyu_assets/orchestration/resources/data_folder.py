"""Resource `data`: the data folder."""

from __future__ import annotations

from logging import Logger
from pathlib import Path

import dagster as dg
from pydantic import Field

from monjyu_assets.orchestration.progress import reporter, warner
from monjyu_assets.work.work import Work
from monjyu_core.observability import set_up_observability
from monjyu_core.storage.folders import DataFolder


class DataFolderResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Where sources and outputs lie."""

    root: str = Field(
        default="", description="Path of the data folder; empty = the one that MONJYU_DATA names, else ./data."
    )

    def folder(self) -> DataFolder:
        return DataFolder(Path(self.root).expanduser().absolute()) if self.root else DataFolder.default()

    def work(self, collection: str, log: Logger, run_id: str = "") -> Work:
        work = Work(self.folder(), collection, reporter(log), warner(log), run_id)
        set_up_observability(work.settings)
        return work
