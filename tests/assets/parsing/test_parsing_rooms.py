"""Rules of the rooms of parsing: formats stand apart, nothing goes in circles, and patterns have one home."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PARSING = ROOT / "monjyu_assets" / "parsing"
FORMATS = "monjyu_assets.parsing.formats."
DOOR = "monjyu_assets.parsing.dispatch"
"""The only module that imports formats."""

HOMES = {"names", "dates", "identifiers"}
"""Modules of `parsing.bibliography` that hold the patterns below; others build theirs from these."""
PATTERNS = {
    "year": re.compile(r"19\|20|\[\d-9\]\|20|\[12\]\\d"),
    "month": re.compile(r"(?i)(?<![a-z])(?:jan|feb|december)(?:uary|ruary)?(?![a-z])"),
    "arXiv id": re.compile(r"\\d\{4\}\\\.\\d|/\\d\{7\}"),
    "ORCID": re.compile(r"\\d\{4\}(?:-|\[[^\]]*\])\\d\{4\}"),
    "particle": re.compile(r"(?i)(?<![a-z])(?:\[vV\]|v)[ao]n(?![a-z])"),
}


def modules() -> dict[str, Path]:
    """Dotted name and file of each module of the writer."""
    files = sorted((ROOT / "monjyu_assets").rglob("*.py"))
    return {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


def imports(file: Path, known: set[str]) -> Iterator[str]:
    """Modules that a file imports anywhere; `from package import module` counts as the module."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in known else node.module


def format_of(module: str) -> str:
    """`pdf` of `monjyu_assets.parsing.formats.pdf.page.lines`, "" of what belongs to no format."""
    return module.removeprefix(FORMATS).split(".")[0] if module.startswith(FORMATS) else ""


def breaks_in(wanted: dict[str, set[str]]) -> list[str]:
    """Imports of a format from outside it, those of the door aside."""
    return [
        f"{module} imports {other}"
        for module, others in wanted.items()
        for other in sorted(others)
        if format_of(other) and format_of(other) != format_of(module) and module != DOOR
    ]


def graph() -> dict[str, set[str]]:
    files = modules()
    return {module: set(imports(file, set(files))) - {module} for module, file in files.items()}


def test_only_the_dispatch_imports_formats_and_no_format_another() -> None:
    found = graph()
    assert len({format_of(module) for module in found} - {""}) >= 10
    assert breaks_in(found) == []
    doors = {format_of(other) for other in found[DOOR]} - {""}
    assert doors == {format_of(module) for module in found} - {""}, "a format without a door"


def test_the_rule_sees_what_breaks_it() -> None:
    pdf, tei = f"{FORMATS}pdf.page.lines", f"{FORMATS}tei.tei"
    text = "monjyu_assets.parsing.text.outline"
    assert breaks_in({pdf: {tei, text}, text: {pdf}, DOOR: {pdf}, tei: {f"{FORMATS}tei.tei_front"}}) == [
        f"{pdf} imports {tei}",
        f"{text} imports {pdf}",
    ]


def test_parsing_has_no_import_circle() -> None:
    inside = {module: others for module, others in graph().items() if module.startswith("monjyu_assets.parsing")}
    try:
        TopologicalSorter(inside).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def written(tree: ast.AST) -> Iterator[str]:
    """Texts in code, those of f-strings among them, without docstrings and other texts that stand alone."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def own_patterns(code: str) -> set[str]:
    return {name for text in written(ast.parse(code)) for name, pattern in PATTERNS.items() if pattern.search(text)}


def test_patterns_of_bibliographies_have_one_home() -> None:
    wrong = {
        str(file.relative_to(PARSING)): found
        for file in sorted(PARSING.rglob("*.py"))
        if not (file.parent.name == "bibliography" and file.stem in HOMES)
        and (found := own_patterns(file.read_text(encoding="utf-8")))
    }
    assert wrong == {}, "take them from monjyu_assets/parsing/bibliography/{names,dates,identifiers}.py"


def test_the_homes_hold_them() -> None:
    found = [own_patterns((PARSING / "bibliography" / f"{home}.py").read_text(encoding="utf-8")) for home in HOMES]
    assert set().union(*found) == set(PATTERNS) - {"month"}, "months are data of monjyu_core/language"


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (r'YEAR = re.compile(r"\((?:19|20)\d\d\)")', "year"),
        (r'year = re.search(rf"{before}(?:1[5-9]|20)\d\d", text)', "year"),
        ('MONTHS = ["jan", "feb", "mar"]', "month"),
        ('MONTH = r"(?P<month>January|February)"', "month"),
        (r'ID = re.compile(r"arxiv:(\d{4}\.\d{4,5})")', "arXiv id"),
        (r'OLD = re.compile(r"[a-z-]+/\d{7}")', "arXiv id"),
        (r'ORCID = re.compile(r"\d{4}-\d{4}-\d{4}")', "ORCID"),
        ('PARTICLES = {"van", "der"}', "particle"),
        ('NAME = r"(?:[vV]an|[dD]e)"', "particle"),
    ],
)
def test_the_scan_sees_a_pattern(code: str, name: str) -> None:
    assert own_patterns(code) == {name}


def test_the_scan_reads_no_docstring() -> None:
    assert own_patterns('def name():\n    """Of van der Berg, January 1999."""') == set()
