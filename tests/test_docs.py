"""What the documents name is there: links, paths of the repository, pages of decisions."""

from __future__ import annotations

import ast
import json
import re
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote

import pytest
from pydantic import BaseModel

from monjyu_core.paper import ParsedPaper
from monjyu_query.answer_packages.verification import Verified
from monjyu_query.asking.result import SearchResult
from monjyu_query.drafts.checked import CheckedDraft
from monjyu_query.questions.tension_list import Tensions
from monjyu_query.reviews.export import Reviewed, ReviewedRecord
from tests.test_specification import wrong

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")] + sorted(ROOT.glob("docs/**/*.md"))
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
DECISIONS = ROOT / "docs" / "decisions"

_CODE_BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
AVOID = re.compile(
    r"\bstands? (?:over|beside|there|nowhere|in (?!for\b)|on)\b|\bbesides?\b|\banew\b|\b(?<!there )(?:is|are) none\b"
    r"|\b(?:is|are|was|were) told\b|\btold of\b|\bso many\b|\blet (?:go|alone|stand)\b|\bhand(?:ed|ing) (?:over|on)\b"
    r"|, for (?:it|they|he|she|we|there)\b|\bholds? no\b|\bwhat (?:it|they) (?:is|are) made of\b",
    re.IGNORECASE,
)
"""Words that read as translated; usual ones are: overrides, next to, in addition to, again, is not, reports, shows, the
number of, skip, pass, export, because, has no, consists of."""
_NO_PROSE = re.compile(r"\\[bWs]|\(\?|\b(?:SELECT|WHERE)\b|^(?:\s*[\w-]+\s+){30}")
"""Patterns, queries and lists of words."""
AS_WRITTEN = ("monjyu_assets/parsing/", "monjyu_assets/levels/")
"""Causes of failures there are rows of tables: other words would parse all papers again."""
_PATH = re.compile(r"(?:monjyu_core|monjyu_assets|monjyu_query|tests|bench|docs|deploy)/[\w./*-]*")


def prose(page: Path) -> str:
    """The text without its blocks of code."""
    return _CODE_BLOCK.sub("", page.read_text(encoding="utf-8"))


def paths_in(text: str) -> list[str]:
    """What stands in backticks and looks like a path of the repository; patterns (`*`) count too."""
    return [code for code in _CODE.findall(text) if _PATH.fullmatch(code)]


def links_in(text: str) -> list[tuple[str, str]]:
    """Relative links as (path, anchor); the path is empty within a page."""
    targets = (target for target in _LINK.findall(_CODE.sub("", text)) if "://" not in target)
    return [(unquote(path), anchor) for path, _, anchor in (target.partition("#") for target in targets)]


def anchors(page: Path) -> set[str]:
    """Of a page's headings, as they are made on the web."""
    headings = re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_paths_and_links_lead_somewhere(page: Path) -> None:
    text = prose(page)
    wrong = [path for path in paths_in(text) if not any(ROOT.glob(path.rstrip("/")))]
    for path, anchor in links_in(text):
        target = page.parent / path if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            wrong.append(f"{path}#{anchor}")
    assert not wrong, wrong


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_documents_have_usual_words(page: Path) -> None:
    text = prose(page)
    assert not [text[max(0, found.start() - 40) : found.end() + 40] for found in AVOID.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_paragraphs_have_a_sentence_a_line(page: Path) -> None:
    if page.name in ("SECURITY.md", "tables.md"):  # a table, and written by a script
        return
    quoted = re.compile(r"\([^)]*\)|“[^”]*”|\"[^\"]*\"")
    lines = [line for line in prose(page).splitlines() if line[:1].isalpha() or line.startswith(("*", "`", "["))]
    plain = {line: quoted.sub("x", _CODE.sub("x", line)) for line in lines}
    assert not [line for line, text in plain.items() if re.search(r"[a-z\dx]\. [A-Z]", text)]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_and_their_options_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = [line.split("  #")[0].strip() for block in _CODE_BLOCK.findall(text) for line in block.splitlines()]
    commands = [code for code in [*shown, *_CODE.findall(prose(page))] if code.startswith("monjyu ")]
    found = {code: wrong(code) for code in commands if not code.endswith("--help")}
    assert not {code: said for code, said in found.items() if said}


def test_messages_have_usual_words() -> None:
    """Strings of the packages that people read; docstrings, patterns, queries and single words are left out."""
    unusual = []
    for package in ("monjyu_core", "monjyu_assets", "monjyu_query"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(AS_WRITTEN):
                unusual += [f"{name}:{line} {text}" for line, text in strings_of(path) if AVOID.search(text)]
    assert not unusual, "\n".join(unusual)


def strings_of(path: Path) -> list[tuple[int, str]]:
    """(line, string) of a module: those with a sentence's letters, without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in left_out)
    return [
        (node.lineno, node.value)
        for node in constants
        if isinstance(node.value, str) and " " in node.value.strip() and not _NO_PROSE.search(node.value)
    ]


def test_names_on_the_map_are_in_their_files() -> None:
    """`name` in `file.py`: the file defines or mentions the name."""
    text = prose(ROOT / "docs" / "architecture.md")
    named = re.findall(r"`([\w.]+)`(?: and `([\w.]+)`)?(?: in| of| \()[ ]?`([\w/]+\.py)`", text)
    assert len(named) > 30
    wrong = []
    for *names, path in named:
        source = (ROOT / path).read_text(encoding="utf-8")
        wrong += [
            f"{name} in {path}" for name in names if name and not re.search(rf"\b{name.split('.')[-1]}\b", source)
        ]
    assert not wrong, wrong


def test_the_test_sees_paths_and_links() -> None:
    text = "`monjyu_core/gone.py`, `bench/*.py`, `a/b`, [x](y.md#z), [web](https://example.org), `[no](link)`"
    assert paths_in(text) == ["monjyu_core/gone.py", "bench/*.py"]
    assert links_in(text) == [("y.md", "z")]
    assert len(paths_in(prose(ROOT / "docs" / "architecture.md"))) > 100


def test_the_index_of_decisions_names_each_page() -> None:
    index = DECISIONS / "README.md"
    pages = {page.name for page in DECISIONS.glob("*.md") if page != index}
    assert len(pages) >= 5
    assert pages == {path for path, _ in links_in(prose(index)) if "/" not in path}


MODELS: tuple[type[BaseModel], ...] = (
    *(SearchResult, CheckedDraft, Verified, ParsedPaper, Reviewed, ReviewedRecord),
    Tensions,
)
"""In the order of the page."""


def test_the_shapes_of_json_are_those_of_the_models() -> None:
    blocks = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "json.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    for block, model in zip(blocks, MODELS, strict=True):
        shown = json.loads(block)
        assert model.model_validate(shown).model_dump(mode="json") == shown


def test_what_scripts_import_is_there() -> None:
    """In `make demo` and the like, which no type checker reads."""
    found = re.findall(r"from (monjyu_[\w.]+) import (\w+)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert found
    for module, name in found:
        assert (ROOT / module.replace(".", "/") / f"{name}.py").is_file() or hasattr(import_module(module), name)
