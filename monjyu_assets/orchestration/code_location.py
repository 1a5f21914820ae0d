"""The name of our code in Dagster: what is written without a server appears under the name that UI and daemon load.

Dagster files runs, and the state of sensors and schedules, only by the names of code location and repository. So they
can be written while nothing is running, whatever loads the code later.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from monjyu_core.settings.settings import load_settings

if TYPE_CHECKING:
    import dagster as dg
    from dagster._core.remote_origin import RemoteRepositoryOrigin

PACKAGE = Path(__file__).parents[1]
REPOSITORY = "__repository__"
"""Dagster's name for the one repository of a `Definitions` object."""


def location_name() -> str:
    return load_settings().automation.code_location


def owners() -> list[str]:
    """Who answers for the assets, by `automation.owners`."""
    return list(load_settings().automation.owners)


def repository_origin() -> RemoteRepositoryOrigin:
    """Where the UI and the daemon find our jobs, sensors and schedules."""
    from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteRepositoryOrigin

    return RemoteRepositoryOrigin(RegisteredCodeLocationOrigin(location_name()), REPOSITORY)


def with_code_references(assets: Sequence[dg.AssetsDefinition]) -> list[dg.AssetsDefinition]:
    """The assets with links to their code: files on this machine, or pages of the Git host that `automation.git_url`
    and `.git_branch` name."""
    import dagster as dg

    linked = dg.with_source_code_references(assets)
    automation = load_settings().automation
    if automation.git_url:
        mapping = dg.AnchorBasedFilePathMapping(PACKAGE, PACKAGE.name)
        linked = dg.link_code_references_to_git(linked, automation.git_url, automation.git_branch, mapping)
    return [one for one in linked if isinstance(one, dg.AssetsDefinition)]
