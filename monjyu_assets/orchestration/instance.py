"""The Dagster instance of a data folder: `<data>/state/dagster`, or the folder in DAGSTER_HOME."""

from __future__ import annotations

import atexit
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.folders import DataFolder, write_atomically
from monjyu_core.storage.state_store import private_folder, tighten_inside

if TYPE_CHECKING:
    import dagster as dg
    from dagster import DagsterInstance
    from dagster._core.remote_origin import RemoteRepositoryOrigin


def prepare_home(data: DataFolder) -> Path:
    """The instance's folder, which is created with a `dagster.yaml` if it is missing."""
    home = Path(os.environ.get("DAGSTER_HOME") or data.dagster).absolute()
    if home.is_relative_to(data.state.absolute()):
        _keep_private(data.state, home)
    home.mkdir(parents=True, exist_ok=True)
    path = home / "dagster.yaml"
    if not path.exists():
        write_atomically(path, Path(__file__).with_name("dagster.yaml").read_bytes())
    return home


@cache
def _keep_private(state: Path, home: Path) -> None:
    """Close Dagster's files to other users, now and at the end: Dagster creates them with the umask."""
    private_folder(state)
    private_folder(home)
    tighten_inside(home)
    atexit.register(tighten_inside, home)


def open_instance(data: DataFolder) -> DagsterInstance:
    """Open the instance of a data folder. Close it, or use it as a context manager."""
    from dagster import DagsterInstance

    home = prepare_home(data)
    os.environ["DAGSTER_HOME"] = str(home)
    # Two processes that create Dagster's SQLite files at the same time break them, so the first opening takes a lock.
    with FileLock(home / "open.lock"):
        _drop_half_created(home / "history" / "runs" / "index.db")
        instance = DagsterInstance.from_config(str(home))
        instance.get_dynamic_partitions("collections")
    return instance


def _drop_half_created(index: Path) -> None:
    """Remove a half-created database. Dagster creates the tables of a missing file, but does not complete them later,
    for example after a full disk or a kill. Such a file contains no data yet."""
    if not index.is_file():
        return
    with closing(sqlite3.connect(index)) as connection, suppress(sqlite3.Error):  # keep an unreadable file
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        used = "event_logs" in names and connection.execute("SELECT 1 FROM event_logs LIMIT 1").fetchone()
        if "dynamic_partitions" not in names and not used:
            for path in index.parent.glob("index.db*"):
                path.unlink()


# The name of Monjyu's code in Dagster. Dagster stores runs, and the state of sensors and schedules, only under the
# names of code location and repository. So they can be written while no server is running, and appear in the UI and the
# daemon however these load the code.
PACKAGE = Path(__file__).parents[1]
REPOSITORY = "__repository__"
"""Dagster's name for the one repository of a `Definitions` object."""


def location_name() -> str:
    return load_settings().automation.code_location


def owners() -> list[str]:
    """The owners of the assets, from `automation.owners`."""
    return list(load_settings().automation.owners)


def repository_origin() -> RemoteRepositoryOrigin:
    """The origin under which the UI and the daemon know Monjyu's jobs, sensors and schedules."""
    from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteRepositoryOrigin

    return RemoteRepositoryOrigin(RegisteredCodeLocationOrigin(location_name()), REPOSITORY)


def with_code_references(assets: Sequence[dg.AssetsDefinition]) -> list[dg.AssetsDefinition]:
    """The assets with links to their code: files on this machine, or pages of the Git host in `automation.git_url` and
    `.git_branch`."""
    import dagster as dg

    linked = dg.with_source_code_references(assets)
    automation = load_settings().automation
    if automation.git_url:
        mapping = dg.AnchorBasedFilePathMapping(PACKAGE, PACKAGE.name)
        linked = dg.link_code_references_to_git(linked, automation.git_url, automation.git_branch, mapping)
    return [one for one in linked if isinstance(one, dg.AssetsDefinition)]
