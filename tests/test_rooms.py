"""The rooms of the house: ordered layers, no circle of imports, no drawer, Dagster in two rooms."""

from __future__ import annotations

import ast
import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.import_graph import PACKAGES, ROOT, imported, modules
from tests.prepared import OF_READINGS

MOST_MODULES = 15
"""In a folder, `__init__.py` aside: what one can take in at a look."""
DAGSTER = {"dagster", "dagster_duckdb", "dagster_graphql", "dagster_webserver", "dagster_shared"}
BEHIND_DAGSTER = tuple(
    f"monjyu_assets/{room}" for room in ("orchestration/", "automation/", "components.py", "definitions.py")
)
LAYERS = {
    "monjyu_core": (
        ("errors", "extras", "lance", "paper", "values"),
        ("language", "text", "user_files"),
        ("settings",),
        ("observability", "quality"),
        ("storage",),
        ("azure",),
        ("models", "embedding", "reader"),
        ("remote", "records"),
        ("status", "core_commands", "cli", "__main__"),
    ),
    "monjyu_assets": (
        ("parsing",),
        ("sources", "chunking", "matching", "levels", "scholarly"),
        ("work",),
        ("analysis", "libraries"),
        ("stages",),
        ("publishing",),
        ("planning",),
        ("orchestration",),
        ("indexing", "automation"),
        ("definitions", "components", "commands"),
    ),
    "monjyu_query": (
        ("asking",),
        ("ranking",),
        ("papers", "knowledge"),
        ("answers",),
        ("modes",),
        ("questions", "digests"),
        ("search",),
        ("citations", "reviews", "drafts", "saved", "answer_packages", "evaluation"),
        ("api", "service", "mcp_server", "commands"),
    ),
}
"""The rooms of each package, lowest layer first: folders and modules next to them. The package itself is the roof."""
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


def _room(module: str) -> str:
    return module.partition(".")[2].partition(".")[0]


def _edges() -> set[tuple[str, str]]:
    """Module and imported module of the same package, in different rooms; also in functions and for types."""
    return {
        (module, target)
        for module, path in MODULES.items()
        for target in imported(path, MODULES, for_types=True) & MODULES.keys()
        if target.partition(".")[0] == module.partition(".")[0] and _room(target) != _room(module)
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_rooms_are_ordered_layers(package: str) -> None:
    """A module imports its own layer or lower ones."""
    layer = {room: number for number, rooms in enumerate(LAYERS[package]) for room in rooms} | {
        "": len(LAYERS[package])
    }
    own = {(module, target) for module, target in _edges() if module.partition(".")[0] == package}
    assert {_room(module) for module in MODULES if module.partition(".")[0] == package} == layer.keys()
    upward = [f"{module} -> {target}" for module, target in sorted(own) if layer[_room(module)] < layer[_room(target)]]
    assert not upward, "\n".join(upward)
    assert len(own) > 50, "the test sees nothing"


@pytest.mark.parametrize("package", PACKAGES)
def test_the_documented_layers_are_those(package: str) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    rows = page.partition(f"| layer | `{package}` |")[2].partition("\n\n")[0].splitlines()[2:]
    documented = [tuple(re.findall(r"`(\w+)`", row)) for row in reversed(rows)]
    assert documented == list(LAYERS[package])


def test_no_circle_of_rooms() -> None:
    """Also within a layer: two rooms that import each other are one room."""
    graph: dict[str, set[str]] = {}
    for module, target in _edges():
        package = module.partition(".")[0]
        graph.setdefault(f"{package}/{_room(module)}", set()).add(f"{package}/{_room(target)}")
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


def test_no_folder_is_a_drawer() -> None:
    sizes = Counter(path.parent for path in MODULES.values() if path.name != "__init__.py")
    assert {str(folder.relative_to(ROOT)): size for folder, size in sizes.items() if size > MOST_MODULES} == {}


def test_a_module_does_not_repeat_its_folder() -> None:
    """The folder gives the context: `html/authors.py`. The excepted ones are what their folder is about."""
    excepted = {"settings/settings", "work/work", "lazy/lazy_search", "workers/worker_job"}
    named = {f"{path.parent.name}/{path.stem}" for path in MODULES.values() if path.name != "__init__.py"}
    stutter = {
        name
        for name in named
        for folder, module in [name.split("/")]
        if module == folder or module.startswith((f"{folder}_", f"{folder.removesuffix('s')}_"))
    }
    assert stutter - excepted == set()


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


def test_readings_are_kept_under_what_decides_them() -> None:
    """What the reader and its encoder import is part of the key, but for what chooses a model or reports an error."""
    inner = [name for name in MODULES if name.startswith(("monjyu_core.embedding.local.", "monjyu_core.reader"))]
    reached = {name for one in inner for name in imported(MODULES[one], MODULES, for_types=False) if name in MODULES}
    outside = {
        name
        for name in reached
        if not name.replace(".", "/").startswith(tuple(path.removesuffix(".py") for path in OF_READINGS))
    }
    choosing = {"embedding.load", "settings.settings", "errors", "extras", "storage.ids"}
    assert outside == {f"monjyu_core.{name}" for name in choosing}
