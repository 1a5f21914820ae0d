"""The Dagster instance of a data folder: `<data>/state/dagster`, or what DAGSTER_HOME names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from monjyu_core.folders import DataFolder, write_atomically

if TYPE_CHECKING:
    from dagster import DagsterInstance


def prepare_home(data: DataFolder) -> Path:
    """The instance's folder, made with `dagster.yaml` where it has none; an existing one is left as it is."""
    home = Path(os.environ.get("DAGSTER_HOME") or data.dagster).absolute()
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "dagster.yaml").exists():
        template = Path(__file__).with_name("dagster.yaml")
        write_atomically(home / "dagster.yaml", template.read_bytes())
    return home


def open_instance(data: DataFolder) -> DagsterInstance:
    """The instance in that folder; close it, or use it as a context manager."""
    from dagster import DagsterInstance

    home = prepare_home(data)
    os.environ["DAGSTER_HOME"] = str(home)
    # Two processes that create Dagster's SQLite files at once leave them broken, so the first opening is done alone.
    with FileLock(home / "open.lock"):
        instance = DagsterInstance.from_config(str(home))
        instance.get_dynamic_partitions("collections")
    return instance
