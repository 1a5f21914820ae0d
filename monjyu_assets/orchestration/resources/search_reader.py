"""Resource `search_files`: vectors and full text of published snapshots, and Lance's index of large ones."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import dagster as dg

from monjyu_assets.orchestration.resources.data_folder import DataFolderResource
from monjyu_core.search_files.nearest_table import NearestTable
from monjyu_core.search_files.search_file import SearchFile, open_search_file
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.snapshot import Snapshot, open_current


@dataclass(frozen=True)
class SearchFiles:
    """The files of one snapshot, mapped: `files` hold the vectors (n, d) and postings of its chunks, each chunk in one.
    `nearest` is Lance's approximate index, which only large collections have; `recall` is what was measured of it."""

    snapshot_id: str
    files: Sequence[SearchFile]
    nearest: NearestTable | None
    recall: float | None

    @property
    def chunks(self) -> int:
        return sum(map(len, self.files))


class SearchFilesResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Opens what searches read of a collection: nothing is loaded but what is looked at."""

    data: dg.ResourceDependency[DataFolderResource]

    @contextmanager
    def reading(self, collection: str, snapshot_id: str | None = None) -> Iterator[SearchFiles]:
        """The files of the published snapshot, or of the one that is named, which are not collected until this ends.
        QueryError where there is no snapshot, StorageError where a file is missing or damaged."""
        place = self.data.folder().collection(collection)
        snapshot = Snapshot(place, read_manifest(place, snapshot_id)) if snapshot_id else open_current(place)
        try:
            manifest, folder = snapshot.manifest, snapshot.collection
            tables = folder.tables(manifest.snapshot_id)
            files = [open_search_file(folder.search, tables, entry) for entry in manifest.search]
            entry = manifest.nearest
            nearest = NearestTable(folder.lance, entry) if entry else None
            yield SearchFiles(snapshot.id, files, nearest, entry.recall if entry else None)
        finally:
            snapshot.close()
