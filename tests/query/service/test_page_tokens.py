"""The page's styles take colours, sizes, spaces and corners from one place; all its words stand in two tongues."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from monjyu_query.service.server.page_files import STATIC

STYLES = sorted(path for path in (STATIC / "styles").glob("*.css") if path.name != "tokens.css")
VIEWS = sorted(STATIC.rglob("view.js"))
_IMPORTED = re.compile(r"""^(?:import|export)[^;"']*["'](\.[^"']+)["']""", re.MULTILINE)
_KEY = re.compile(r"(?:^ +|[,{] )(\w+): (?=[\"`(\[])", re.MULTILINE)
NONE = {
    "a colour": re.compile(r"#[0-9a-fA-F]{3,8}\b|\b(?:rgba?|hsla?|oklch)\("),
    "a size of type": re.compile(r"(?<![\w-])font(?:-size)?:[^;}]*?(?<![\w.-])\d*\.?\d+(?:rem|px|pt|em)"),
    "a space": re.compile(r"(?<![\w-])(?:padding|margin|gap)(?:-\w+)?:[^;}]*?\d(?:rem|pt)"),
    "a corner": re.compile(r"border-radius:[^;}]*?(?:[1-9]\d*px|rem)"),
}


@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.name)
def test_a_style_names_no_literal_of_its_own(path: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
    found = {what: match[0] for what, pattern in NONE.items() if (match := pattern.search(text))}
    assert found == {}, "take it from tokens.css"


def test_every_token_that_is_used_is_there() -> None:
    known = set(re.findall(r"(--[\w-]+):", (STATIC / "styles/tokens.css").read_text("utf-8")))
    used = {name for path in STYLES for name in re.findall(r"var\((--[\w-]+)", path.read_text("utf-8"))}
    assert used - known == set()


@pytest.mark.parametrize("path", sorted(STATIC.rglob("words.js")), ids=lambda path: path.parent.name)
def test_words_stand_in_english_and_in_japanese(path: Path) -> None:
    english, _, japanese = path.read_text("utf-8").partition("\n  ja: {")
    names = [re.findall(r"(?:^ +|, )(\w+): (?=[\"`(\[])", text, re.MULTILINE) for text in (english, japanese)]
    assert names[0] and sorted(names[0]) == sorted(names[1])


def _loaded(path: Path, known: set[Path]) -> set[Path]:
    """The module with those that it imports before it runs."""
    if path not in known:
        known.add(path)
        for name in _IMPORTED.findall(path.read_text("utf-8")):
            _loaded((path.parent / name).resolve(), known)
    return known


@pytest.mark.parametrize("view", VIEWS, ids=lambda path: path.parent.name)
def test_a_view_loads_the_words_it_says(view: Path) -> None:
    """What another view brings is there only after that one was opened: the page said `enterKey`."""
    loaded = _loaded(view.resolve(), _loaded((STATIC / "main.js").resolve(), set()))
    texts = [path.read_text("utf-8") for path in loaded]
    there = {key for text in texts if re.search(r"WORDS|\bwords = |addWords\(", text) for key in _KEY.findall(text)}
    own = "".join(path.read_text("utf-8") for path in view.parent.glob("*.js"))
    assert set(re.findall(r"""\bt\("(\w+)\"""", own)) - there == set()
