"""Recognises what a question asks about the collection as a whole, with the tables `en.toml` and `ja.toml` in this
folder.

An intent has a name, for which `monjyu_query/search/searcher.py` has a handler, and patterns and examples, which the
tests ask. The whole question must be understood: if words are left over, it is an ordinary question.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from monjyu_core.language.packs import LANGUAGES, also
from monjyu_core.text.search_text import count_wide
from monjyu_core.values import Values
from monjyu_query.asking.topic import asks_of_all, topic_of

LONGEST = 400
"""The maximum number of characters of a question that is only an intent."""
_COUNTS = re.compile(r"^(?:in |by )?how (?:many|often)" + also("intents.counts"), re.IGNORECASE)
_QUOTES = " “”\"'「」『』,、"
_YEARS: Mapping[str, Callable[[list[int]], tuple[int | None, int | None]]] = {
    "year": lambda y: (y[0], y[0]),
    "between": lambda y: (min(y), max(y)),
    "since": lambda y: (y[0], None),
    "after": lambda y: (y[0] + 1, None),
    "until": lambda y: (None, y[0]),
    "before": lambda y: (None, y[0] - 1),
}


@dataclass(frozen=True)
class Intent:
    """A recognised request. `text`: the named paper, person or topic, or ""; years are inclusive. `counts`: the
    question asks for a number."""

    name: str
    text: str = ""
    author: str = ""
    year_from: int | None = None
    year_to: int | None = None
    language: str = ""
    counts: bool = False


@dataclass(frozen=True)
class _Table:
    """The table of one language, with compiled patterns. `themes`: what a question for themes must and must not
    contain, because single words reveal it."""

    normal: list[tuple[re.Pattern[str], str]]
    intents: list[tuple[str, list[re.Pattern[str]]]]
    themes: dict[str, re.Pattern[str]]
    no_name: re.Pattern[str]
    before_name: re.Pattern[str]
    asks: re.Pattern[str] | None
    asks_all: re.Pattern[str]
    tail: list[tuple[str, re.Pattern[str]]]
    languages: dict[str, str] = field(default_factory=dict)


def recognised(query: str) -> Intent | None:
    """The intent of a question; None for an ordinary question about the papers' text."""
    text = " ".join(query.split()).rstrip("?？。.! ")
    if not text or len(text) > LONGEST:
        return None
    languages = LANGUAGES[::-1] if count_wide(text) else LANGUAGES[:1]
    return next((intent for language in languages if (intent := _by_table(_table(language), text))), None)


def _by_table(table: _Table, text: str) -> Intent | None:
    if _asks_for_themes(table, text):
        return Intent("themes")
    for pattern, instead in table.normal:
        text = pattern.sub(instead, text)
    for name, patterns in table.intents:
        for pattern in patterns:
            found = pattern.fullmatch(text)
            intent = _meant(table, name, text, found.groupdict()) if found else None
            if intent is not None:
                return intent
    return None


def _meant(table: _Table, name: str, text: str, groups: Mapping[str, str | None]) -> Intent | None:
    """The intent of a matching pattern; None if it names nothing that could be meant."""
    counts = bool(_COUNTS.search(text))
    if "tail" in groups:
        intent = _selected(table, name, groups["tail"] or "", counts)
        everything = intent == Intent("listed", counts=counts)
        return None if everything and not table.asks_all.search(text) else intent
    if "name" in groups:
        thing = table.before_name.sub("", (groups["name"] or "").strip(_QUOTES)).strip(_QUOTES)
        if not thing or table.no_name.match(thing) or (table.asks and table.asks.search(thing)):
            return None
        return (
            Intent("counted" if counts else "listed", author=thing, counts=counts)
            if name == "wrote"
            else Intent(name, thing, counts=counts)
        )
    topic = (groups.get("topic") or "").strip(" .,;:?!？。、")
    if "topic" in groups and name != "tensions" and (not topic_of(topic) or table.no_name.match(topic)):
        return None
    return Intent(name, topic, counts=counts)


def _selected(table: _Table, name: str, tail: str, counts: bool) -> Intent | None:
    """Papers selected by year, author and language; None if a part of the selection is not understood."""
    values: Values = {}
    rest = tail.strip(" ,、")
    while rest:
        matches = ((kind, pattern.match(rest)) for kind, pattern in table.tail)
        kind, found = next(((kind, match) for kind, match in matches if match), ("", None))
        if found is None:
            return None
        if kind in _YEARS:
            values["year_from"], values["year_to"] = _YEARS[kind]([int(year) for year in found.groups()])
        elif kind != "filler":
            values[kind] = table.languages.get(found[1].casefold(), found[1])
        rest = rest[found.end() :].strip(" ,、")
    return Intent(name, counts=counts, **values)


def _asks_for_themes(table: _Table, text: str) -> bool:
    """Whether the question asks for the themes or the content of all papers, without a subject."""
    themes = table.themes
    if themes["without"].search(text):
        return False
    if themes["whole"].search(text):
        return True
    return bool(themes["has"].search(text)) and asks_of_all(themes["aside"].sub(" ", text))


@cache
def _table(language: str) -> _Table:
    found = tables()[language]
    fragments: dict[str, str] = found["fragments"]

    def compiled(pattern: str) -> re.Pattern[str]:
        for name, fragment in reversed(fragments.items()):
            pattern = pattern.replace(f"{{{name}}}", fragment)
        return re.compile(pattern, re.IGNORECASE)

    names = found["names"]
    return _Table(
        [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in found["normal"].items()],
        [(one["name"], list(map(compiled, one["patterns"]))) for one in found["intent"]],
        {name: compiled(pattern) for name, pattern in found["themes"].items() if name != "examples"},
        compiled(names["no_name"]),
        compiled(names["before"]),
        compiled(names["asks"]) if "asks" in names else None,
        compiled(names["asks_all"]),
        [(kind, compiled(pattern)) for kind, patterns in found["tail"].items() for pattern in patterns],
        found["languages"],
    )


@cache
def tables() -> Mapping[str, Mapping[str, Any]]:
    """The content of each language's file, by language code."""
    return {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(Path(__file__).parent.glob("*.toml"))}
