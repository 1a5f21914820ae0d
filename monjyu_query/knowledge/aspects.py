"""The aspects of a paper, and the patterns of the sentences and headings about each, in English and Japanese."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from monjyu_core.language.packs import Texts, cues

AspectName = Literal[
    "purpose", "need", "sample", "methods", "results", "limits", "conclusion", "availability", "measures", "licence"
]

_COUNTED = cues("aspects.counted")
COUNTED = re.compile(_COUNTED, re.IGNORECASE)
"""The subjects of a study, in figures."""


@dataclass(frozen=True)
class Aspect:
    """An aspect of a paper. `strong` and `weak` are words of sentences about it, `headings` those of its sections,
    `types` their types; `figures`: a sentence with a number counts more; `named`: how a reader may request it in a word
    or two."""

    name: AspectName
    strong: re.Pattern[str]
    weak: re.Pattern[str]
    headings: re.Pattern[str]
    types: tuple[str, ...]
    named: re.Pattern[str]
    figures: bool = False

    def title(self, language: str) -> str:
        return Texts("aspects")[language][self.name]


def _aspect(name: AspectName, types: Sequence[str], *, more: str = "", figures: bool = False) -> Aspect:
    """An aspect from its patterns in all languages; `more` is an additional strong one."""
    strong, weak, headings, named = (
        cues(f"aspects.{name}_{field}") for field in ("strong", "weak", "headings", "named")
    )
    told = re.compile(f"{more}|{strong}" if more else strong, re.IGNORECASE)
    whole = re.compile(rf"\W*(?:the )?(?:main |key |primary )?(?:{named})\W*$", re.IGNORECASE)
    return Aspect(
        name, told, re.compile(weak, re.IGNORECASE), re.compile(headings, re.IGNORECASE), tuple(types), whole, figures
    )


ASPECTS: tuple[Aspect, ...] = (
    _aspect("purpose", ("abstract",)),
    _aspect("need", ("introduction",)),
    _aspect("sample", (), more=_COUNTED, figures=True),
    _aspect("methods", ("methods",)),
    _aspect("results", ("results", "experiments"), figures=True),
    _aspect("limits", ()),
    _aspect("conclusion", ("conclusion", "discussion")),
    _aspect("availability", ()),
)
MEASURES = _aspect("measures", ("methods", "experiments"))
LICENCE = _aspect("licence", ())
"""Measures and licence, which are aspects in study tables only."""
OF_TABLES = (MEASURES, LICENCE)
COMPARED: tuple[AspectName, ...] = tuple(one.name for one in ASPECTS if one.name != "need")
"""The default aspects of a comparison."""


def aspect_named(words: str) -> Aspect | None:
    """The aspect that a reader means by a word or two; None if it is something else."""
    return next((aspect for aspect in (*ASPECTS, *OF_TABLES) if aspect.named.match(words)), None)


def aspect(name: AspectName) -> Aspect:
    return next(one for one in ASPECTS if one.name == name)


def states_purpose(text: str) -> bool:
    """Whether a sentence states its paper's purpose."""
    return bool(ASPECTS[0].strong.search(text))
