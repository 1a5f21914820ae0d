"""Language packs: the texts that Monjyu shows (`texts/XX.toml`, XX: ISO 639-1), and the patterns with which it reads
texts and questions (`cues/XX.toml`).

A section of texts has the same names, with the same placeholders, in every language; in `reasons` the name is the
English text. A pattern is a regular expression, or a list of its parts, in the section of the module that uses it. The
English form of a short pattern is in that module, which appends those of other languages (`also`). A language may omit
patterns.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).with_name("texts")
LANGUAGES = ("en", *sorted(path.stem for path in _FOLDER.glob("[!.]*.toml") if path.stem != "en"))
"""The languages of texts and prompts; the first replaces any language that is not among them."""


@dataclass(frozen=True)
class Texts:
    """A section of the texts: by language, then by name."""

    section: str

    def __getitem__(self, language: str) -> Mapping[str, str]:
        return _catalogue(language if language in LANGUAGES else LANGUAGES[0]).get(self.section, {})

    def every(self, name: str) -> dict[str, str]:
        """Return the text in each language."""
        return {language: self[language][name] for language in LANGUAGES}


_FORMS = Texts("forms")


def quoted(text: str, language: str) -> str:
    """The text between the quotation marks of the language."""
    return _FORMS[language]["quoted"].format(text)


def listed(parts: Sequence[str], language: str, last: str = "comma") -> str:
    """`A, B, C`; `last` is the separator before the last item: `comma`, `and` (`A, B and C`) or `or` (`A, or B`)."""
    forms = _FORMS[language]
    return forms[last].join(filter(None, [forms["comma"].join(parts[:-1]), *parts[-1:]]))


def sentences(parts: Sequence[str], language: str) -> str:
    """Join consecutive sentences as the language does."""
    return _FORMS[language]["between"].join(parts)


@cache
def _catalogue(language: str) -> Mapping[str, Mapping[str, str]]:
    sections: dict[str, dict[str, str]] = tomllib.loads((_FOLDER / f"{language}.toml").read_text("utf-8"))
    return sections


def also(key: str) -> str:
    """The patterns of `cues` preceded by `|`, to append to an English pattern or group; empty if there are none."""
    found = cues(key)
    return f"|{found}" if found else ""


@cache
def cues(key: str) -> str:
    """The patterns of all languages under a key ("topic.frame"), as alternatives. Empty if no language has one."""
    section, _, name = key.partition(".")
    return "|".join(found for each in _files() if (found := "".join(each.get(section, {}).get(name, ()))))


def table(key: str) -> dict[str, float]:
    """The numbers under a section in all languages, by word."""
    return {word: float(number) for each in _files() for word, number in each.get(key, {}).items()}


@cache
def _files() -> tuple[Mapping[str, Mapping[str, Any]], ...]:
    return tuple(
        tomllib.loads(path.read_text("utf-8")) for path in sorted(Path(__file__).with_name("cues").glob("*.toml"))
    )
