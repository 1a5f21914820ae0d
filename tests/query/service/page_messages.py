"""The sentences that the service may say to whoever uses its page, as they stand in the code: errors, their hints, and
warnings, with `{}` where a value comes in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import monjyu_core.errors
import monjyu_query.service.server.error_responses as responses

ROOT = Path(responses.__file__).parents[3]
ERRORS = {
    name
    for module in (monjyu_core.errors, responses)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, monjyu_core.errors.MonjyuError)
} | {"SnapshotGone", "abstained"}
"""What is called with a sentence, and perhaps with a hint after it."""


@dataclass(frozen=True, order=True)
class Said:
    """A sentence and the module that says it, by its path from the root of the repository."""

    module: str
    sentence: str


def said_in(*folders: str) -> list[Said]:
    """Each sentence once, by module; what is made elsewhere and only passed on is not seen."""
    paths = sorted(path for folder in folders for path in _modules(ROOT / folder))
    found = {Said(str(path.relative_to(ROOT)), sentence) for path in paths for sentence in _sentences(path)}
    return sorted(found)


def literals_in(*folders: str) -> set[str]:
    """Every text that stands in the code, whatever it is for."""
    paths = (path for folder in folders for path in _modules(ROOT / folder))
    trees = (ast.parse(path.read_text("utf-8")) for path in paths)
    found = (one for tree in trees for node in ast.walk(tree) if isinstance(node, ast.expr) for one in _templates(node))
    return set(found)


def _modules(place: Path) -> Iterator[Path]:
    return iter([place]) if place.suffix == ".py" else place.rglob("*.py")


def _sentences(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for value in _told(node):
                yield from _templates(value)


def _told(call: ast.Call) -> Iterator[ast.expr]:
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if name in ERRORS:
        yield from call.args[:2]
        yield from (one.value for one in call.keywords if one.arg == "hint")
    elif name == "append" and "warnings" in ast.unparse(call.func):
        yield from call.args
    for one in call.keywords:
        if one.arg == "warnings" and isinstance(one.value, ast.List | ast.IfExp):
            yield one.value


def _templates(value: ast.expr) -> Iterator[str]:
    if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value:
        yield value.value
    elif isinstance(value, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in value.values)
    elif isinstance(value, ast.IfExp):
        yield from _templates(value.body)
        yield from _templates(value.orelse)
    elif isinstance(value, ast.List):
        for one in value.elts:
            yield from _templates(one)
