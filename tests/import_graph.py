"""Which modules of the packages and the tests import which, for the architecture's tests and `make affected`."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("monjyu_core", "monjyu_assets", "monjyu_query")
CACHE = ROOT / ".pytest_cache" / "module-facts.json"
LONGEST_STRING = 200


class Facts(NamedTuple):
    """What the syntax tree of a module says. Imports are (module, name or None); those under TYPE_CHECKING are apart.
    Names are those of variables and arguments."""

    imports: list[tuple[str, str | None]]
    type_imports: list[tuple[str, str | None]]
    names: list[str]
    functions: list[str]
    strings: list[str]


def sources(top: str) -> Iterator[tuple[str, Path]]:
    """The modules below a folder as (dotted name, file)."""
    for path in sorted((ROOT / top).rglob("*.py")):
        yield ".".join(path.relative_to(ROOT).with_suffix("").parts), path


def modules(*tops: str) -> dict[str, Path]:
    """Modules below the folders by name. An empty `__init__.py` is none."""
    return {
        name.removesuffix(".__init__"): path
        for top in tops
        for name, path in sources(top)
        if path.name != "__init__.py" or path.read_text(encoding="utf-8").strip()
    }


def imported(path: Path, known: dict[str, Path], *, for_types: bool) -> set[str]:
    """Absolute names of the modules that a file imports, at the top and in functions."""
    facts = facts_of()[path]
    pairs = [*facts.imports, *(facts.type_imports if for_types else ())]
    return {inner if (inner := f"{module}.{name}") in known else module for module, name in pairs}


@cache
def facts_of() -> dict[Path, Facts]:
    """Facts of every module. Reading the syntax trees takes seconds, so they are kept by the content of the files."""
    kept = json.loads(CACHE.read_text()) if CACHE.exists() else {}
    files = {path: path.read_bytes() for top in (*PACKAGES, "tests", "bench") for _, path in sources(top)}
    keys = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    facts = {keys[path]: kept.get(keys[path]) or _read(content) for path, content in files.items()}
    if facts.keys() != kept.keys():
        CACHE.parent.mkdir(exist_ok=True)
        CACHE.write_text(json.dumps(facts))
    return {path: Facts(*facts[key]) for path, key in keys.items()}


def _read(content: bytes) -> Facts:
    tree = ast.parse(content)
    for_types = {
        below
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        for below in ast.walk(statement)
    }
    facts = Facts([], [], [], [], [])
    for node in ast.walk(tree):
        pairs = facts.type_imports if node in for_types else facts.imports
        if isinstance(node, ast.Import):
            pairs += [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            pairs += [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Name | ast.arg):
            facts.names.append(node.id if isinstance(node, ast.Name) else node.arg)
        elif isinstance(node, ast.FunctionDef):
            facts.functions.append(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) <= LONGEST_STRING:
            facts.strings.append(node.value)
    return Facts(*(sorted(set(values), key=str) for values in facts))
