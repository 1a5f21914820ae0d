"""What Monjyu says, in each language that it speaks: `texts/XX.toml` (XX: ISO 639-1), read when the first is wanted.

A section has the same names in every file, with the same places for values; in `reasons` the name is the English text.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).with_suffix("")
LANGUAGES = ("en", *sorted(path.stem for path in _FOLDER.glob("[!.]*.toml") if path.stem != "en"))
"""That texts and prompts are written in; in place of any other stands the first."""


@dataclass(frozen=True)
class Texts:
    """A section of the catalogue: by language, then by name."""

    section: str

    def __getitem__(self, language: str) -> Mapping[str, str]:
        return _catalogue(language if language in LANGUAGES else LANGUAGES[0]).get(self.section, {})

    def every(self, name: str) -> dict[str, str]:
        """One text by language."""
        return {language: self[language][name] for language in LANGUAGES}


_FORMS = Texts("forms")


def quoted(text: str, language: str) -> str:
    """Between the quotation marks of the language."""
    return _FORMS[language]["quoted"].format(text)


def listed(parts: Sequence[str], language: str, last: str = "comma") -> str:
    """`A, B, C`; `last` is what stands before the last: `comma`, `and` (`A, B and C`) or `or` (`A, or B`)."""
    forms = _FORMS[language]
    return forms[last].join(filter(None, [forms["comma"].join(parts[:-1]), *parts[-1:]]))


def sentences(parts: Sequence[str], language: str) -> str:
    """Sentences that follow each other."""
    return _FORMS[language]["between"].join(parts)


@cache
def _catalogue(language: str) -> Mapping[str, Mapping[str, str]]:
    sections: dict[str, dict[str, str]] = tomllib.loads((_FOLDER / f"{language}.toml").read_text("utf-8"))
    return sections
