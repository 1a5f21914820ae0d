"""A link from each asset to its code: files on this machine, or pages of the Git host that the settings name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import dagster as dg

from monjyu_core.settings.settings import load_settings

PACKAGE = Path(__file__).parents[2]


def with_code_places(assets: Sequence[dg.AssetsDefinition]) -> list[dg.AssetsDefinition]:
    """The assets with `dagster/code_references`, by `automation.git_url` and `.git_branch` where they are set."""
    placed = dg.with_source_code_references(assets)
    automation = load_settings().automation
    if automation.git_url:
        mapping = dg.AnchorBasedFilePathMapping(PACKAGE, PACKAGE.name)
        placed = dg.link_code_references_to_git(placed, automation.git_url, automation.git_branch, mapping)
    return [one for one in placed if isinstance(one, dg.AssetsDefinition)]
