"""Imports a library into a collection, and later its changes, for `monjyu import`."""

from dataclasses import dataclass
from pathlib import Path

from monjyu_assets.indexing.requests import index_collection
from monjyu_assets.libraries.library_folder import Synced
from monjyu_assets.libraries.syncing import Kind, sync_library
from monjyu_assets.planning.pending import IndexResult
from monjyu_assets.planning.targets import Say
from monjyu_assets.work.work import Progress, no_progress, no_warning
from monjyu_core.storage.folders import DataFolder


@dataclass(frozen=True)
class Imported:
    """The results of an import and of the indexing that followed it."""

    library: Synced
    index: IndexResult


def import_library(
    data: DataFolder,
    kind: Kind,
    path: Path,
    name: str,
    *,
    level: int | None = None,
    allow_deletes: bool = False,
    progress: Progress = no_progress,
    say: Say = no_warning,
) -> Imported:
    """Import the works of a library into a collection and index it. Another import of the same path adds, updates and
    removes works that changed. Raises ConfigurationError, without any change, if the library cannot be read or is
    empty."""
    done = sync_library(data, kind, path, name, say=say)
    source = data.papers / name
    found = index_collection(data, source, name, level=level, allow_deletes=allow_deletes, progress=progress, say=say)
    return Imported(done, found)
