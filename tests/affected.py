"""Test files that a change can reach: `python -m tests.affected [BASE]` prints them, the nearest first.

A test file is reached through imports (those inside functions too), through a command that it calls, and through the
names of modules and data files in its strings. BASE is a revision; without it the change is what is not committed, or
where everything is committed, the last commit. Files far from the change are left out where the tests would take more
than a minute by what tests/durations.json says; MONJYU_AFFECTED_SECONDS is another limit.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from tests.durations import known_durations
from tests.import_graph import PACKAGES, ROOT, facts_of, imported, modules

MODULES = modules(*PACKAGES, "tests", "bench")
SECONDS = float(os.environ.get("MONJYU_AFFECTED_SECONDS", "60"))
CALLERS = {"call_monjyu", "run_monjyu", "monjyu"}
TESTS = ROOT / "tests"
NOT_FOLLOWED = {TESTS / "conftest.py", *TESTS.rglob("__init__.py")}
"""Imports of these do not count: a session's fixtures index, and so reach nearly everything."""


def changed_files(base: str | None = None) -> list[Path]:
    """Files that differ from a revision, also those that git does not track yet. They may be gone."""
    new = _git("ls-files", "--others", "--exclude-standard")
    base = base or ("HEAD" if new or _git("diff", "--name-only", "HEAD") else "HEAD~1")
    return [Path(name) for name in dict.fromkeys([*_git("diff", "--name-only", base), *new])]


def affected_tests(changed: Sequence[Path]) -> list[str]:
    """Test files by the number of imports between them and a changed file; those named after it come first."""
    importers = _importers()
    near = dict.fromkeys(node for path in changed for node in _nodes(path))
    reached = dict(near)
    while near:
        near = dict.fromkeys(one for node in near for one in importers.get(node, ()) if one not in reached)
        reached |= near
    files = [str(MODULES[name].relative_to(ROOT)) for name in reached if name in MODULES]
    tests = [file for file in files if Path(file).name.startswith("test_")]
    subjects = {f"test_{path.stem}.py" for path in changed} | {path.name for path in changed}
    return sorted(tests, key=lambda file: Path(file).name not in subjects)


def nearest(files: list[str], seconds: float = SECONDS) -> list[str]:
    """As many of the first files as their tests take seconds, at least one."""
    known, total = known_durations(), 0.0
    for number, file in enumerate(files):
        total += known.get(file, 1.0)
        if total > seconds and number:
            return files[:number]
    return files


def _git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def _nodes(path: Path) -> list[str]:
    """What a file is called in the graph: its module; a data file its name and, in a package, the modules that it lies
    with."""
    if path.suffix == ".py":
        return [".".join(path.with_suffix("").parts).removesuffix(".__init__")]
    folders = (ROOT / parent for parent in path.parents if path.parts[0] in PACKAGES)
    beside = ([name for name, module in MODULES.items() if module.parent == folder] for folder in folders)
    return [path.name, *next(filter(None, beside), [])]


@cache
def _importers() -> dict[str, list[str]]:
    """For each module and name of a data file, the modules that import it, name it or take its fixtures."""
    importers: dict[str, list[str]] = {}
    for name, path in MODULES.items():
        if path not in NOT_FOLLOWED:
            reached = {*imported(path, MODULES, for_types=True), *_named(path), *_fixtures(path)}
            for one in sorted(reached - {name}):
                importers.setdefault(one, []).append(name)
    return importers


def _named(path: Path) -> Iterator[str]:
    facts = facts_of()[path]
    calls = path.is_relative_to(TESTS) and CALLERS & {*facts.names}
    for text in facts.strings:
        if calls and text in _commands():
            yield _commands()[text]
        elif text in MODULES or text.rpartition(".")[0] in MODULES:
            yield text if text in MODULES else text.rpartition(".")[0]
        elif "." in text:
            yield text.rpartition("/")[2]


def _fixtures(path: Path) -> Iterator[str]:
    """The conftest modules above a test file whose functions it names as arguments."""
    for name, other in MODULES.items():
        above = other.name == "conftest.py" and other not in NOT_FOLLOWED and path.is_relative_to(other.parent)
        if above and {*facts_of()[other].functions} & {*facts_of()[path].names}:
            yield name


@cache
def _commands() -> dict[str, str]:
    """The module of each command of `monjyu`."""
    return {point.name: point.value.partition(":")[0] for point in entry_points(group="monjyu.commands")}


if __name__ == "__main__":
    everything = affected_tests(changed_files(*sys.argv[1:2]))
    chosen = nearest(everything)
    sys.stderr.write(f"{len(chosen)} of {len(everything)} test files that the change reaches\n")
    sys.stdout.write(" ".join(chosen))
