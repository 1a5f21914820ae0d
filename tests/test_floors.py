"""A feature whose published figure is below its floor is off by default (`bench/floors.toml`)."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from monjyu_core.settings.settings import Settings
from monjyu_core.storage.collection import CollectionRecord
from tests.import_graph import ROOT

FLOORS: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "bench" / "floors.toml").read_text(encoding="utf-8"))


def default_of(setting: str) -> object:
    """The default of `group.field` in the settings, or of `collection.field` in a collection's record."""
    group, *names = setting.split(".")
    if group == "collection":
        return CollectionRecord.model_fields[names[0]].default
    value: object = getattr(Settings(), group)
    for name in names:
        value = getattr(value, name)
    return value


@pytest.mark.parametrize("feature", FLOORS)
def test_what_is_below_its_floor_is_off_by_default(feature: str) -> None:
    entry = FLOORS[feature]
    assert entry["text"] in (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8"), "the figure is not published"
    if entry["value"] < entry["floor"]:
        assert entry["off"], "below its floor, and nothing turns it off"
        assert {name: default_of(name) for name in entry["off"]} == entry["off"]
    else:
        assert "off" not in entry
