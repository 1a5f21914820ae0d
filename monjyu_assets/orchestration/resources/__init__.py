"""The resources of the assets: data folder, build options, databases and search files, models, the IO manager."""

from dagster._config.pythonic_config import PartialResource

from monjyu_assets.orchestration.resources.build_options import BuildOptions
from monjyu_assets.orchestration.resources.data_folder import (
    DataFolderResource,
    ModelGateway,
    SearchFilesResource,
    SnapshotDuckDB,
)
from monjyu_assets.orchestration.resources.io_manager import IO_MANAGER, MonjyuIOManager
from monjyu_core.values import Values

__all__ = [
    "IO_MANAGER",
    "BuildOptions",
    "DataFolderResource",
    "ModelGateway",
    "MonjyuIOManager",
    "SearchFilesResource",
    "SnapshotDuckDB",
    "resources_of",
]


def resources_of(data: DataFolderResource | PartialResource[DataFolderResource]) -> Values:
    """All resources over one data folder, by the names that the assets use."""
    return {
        "data": data,
        "build": BuildOptions(data=data),
        "snapshots": SnapshotDuckDB(data=data),
        "search_files": SearchFilesResource(data=data),
        "models": ModelGateway(data=data),
        IO_MANAGER: MonjyuIOManager(data=data),
    }
