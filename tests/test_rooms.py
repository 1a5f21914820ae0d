"""The rooms of the house: no circle of imports, no drawer, one home for a name, Dagster behind one door."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.import_graph import PACKAGES, ROOT, imported, modules

MOST_MODULES = 15
"""In a folder, `__init__.py` aside: what one can take in at a look."""
ASSETS = "monjyu_assets/orchestration/assets"
DAGSTER = {"dagster", "dagster_duckdb", "dagster_graphql", "dagster_webserver", "dagster_shared"}
BEHIND_DAGSTER = ("monjyu_assets/orchestration/", "monjyu_assets/definitions.py")
MODULES = modules(*PACKAGES)


def test_no_circle_of_imports() -> None:
    """Imports in functions and for types count: they hide a circle, and do not open it."""
    graph = {
        module: (imported(path, MODULES, for_types=True) & MODULES.keys()) - {module}
        for module, path in MODULES.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


def test_no_folder_is_a_drawer() -> None:
    sizes = Counter(path.parent for path in MODULES.values() if path.name != "__init__.py")
    assert {str(folder.relative_to(ROOT)): size for folder, size in sizes.items() if size > MOST_MODULES} == {}


def test_a_name_has_one_home() -> None:
    """An asset and the stage that computes it have one name: the asset is the stage as Dagster sees it."""
    homes: dict[str, set[str]] = defaultdict(set)
    for path in MODULES.values():
        if path.name != "__init__.py":
            homes[path.stem].add(str(path.parent.relative_to(ROOT)).replace(f"{ASSETS}/levels", ASSETS))
    pair = {ASSETS, "monjyu_assets/stages"}
    assert {name: places for name, places in homes.items() if len(places) > 1 and places != pair} == {}


def test_only_orchestration_loads_dagster() -> None:
    loading = {
        str(path.relative_to(ROOT))
        for path in MODULES.values()
        if DAGSTER & {name.split(".")[0] for name in imported(path, MODULES, for_types=False)}
    }
    assert {name for name in loading if not name.startswith(BEHIND_DAGSTER)} == set()
    assert len(loading) > 20, "the test sees nothing"


def test_every_room_says_what_it_is_for() -> None:
    folders = {path.parent for path in MODULES.values()}
    silent = [folder for folder in folders if not ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))]
    assert [str(folder.relative_to(ROOT)) for folder in silent] == []
