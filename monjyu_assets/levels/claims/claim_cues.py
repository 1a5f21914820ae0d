"""What a sentence shows of the kind of claim it makes: cues of its words, its section, its figures."""

from __future__ import annotations

import re
from importlib.resources import files


def _patterns() -> dict[str, re.Pattern[str]]:
    text = files(__package__).joinpath("claim_cues.txt").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, _, pattern = line.partition("\t")
            found[name.removesuffix("=")] = re.compile(pattern, 0 if name.endswith("=") else re.IGNORECASE)
    return found


_ALL = _patterns()
HEADINGS = {name: pattern for name, pattern in _ALL.items() if name.startswith("heading_")}
CUES = {name: pattern for name, pattern in _ALL.items() if name not in HEADINGS}
SECTIONS = (
    "abstract", "introduction", "methods", "results", "experiments", "discussion", "conclusion", "related_work",
    "acknowledgments", "appendix", "other",
)  # fmt: skip
NAMES = (
    *CUES,
    *HEADINGS,
    *(f"in_{name}" for name in SECTIONS),
    "short",
    "long",
    "letters",
    "no_verb",
    "wide",
    "of_title",
    "is_title",
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|can|may|will|\w+(?:ed|es|s|ing))\b", re.IGNORECASE
)
SHORT, LONG = 60, 220
"""Characters."""


def cues_of(text: str, section_type: str, heading: str, title: str = "", *, japanese: bool = False) -> list[float]:
    """The signs of a sentence, by `NAMES`, each 0 to 1."""
    text = " ".join(text.split())
    found = [float(bool(pattern.search(text[:800]))) for pattern in CUES.values()]
    found += [float(bool(pattern.search(heading[:200]))) for pattern in HEADINGS.values()]
    section = section_type if section_type in SECTIONS else "other"
    found += [float(section == name) for name in SECTIONS]
    letters = sum(letter.isalpha() for letter in text) / max(1, len(text.replace(" ", "")))
    return [
        *found,
        float(len(text) < SHORT),
        float(len(text) > LONG),
        letters,
        float(not _VERB.search(text)),
        float(japanese),
        *_of_title(text, title),
    ]


_NAME = re.compile(r"\b(?:[A-Z][\w’'+#-]*[A-Za-z0-9]|[a-z]+[A-Z]\w*)\b")
_START = 60


def _of_title(text: str, title: str) -> list[float]:
    """Whether the sentence begins with a name that the paper's title has; whether it is a title."""
    names = {name.casefold() for name in _NAME.findall(title) if len(name) > 3}
    first = text[:_START].casefold()
    of_title = any(re.search(rf"\b{re.escape(name)}\b", first) for name in names if name not in _COMMON)
    return [float(of_title), float(text.strip(" .").casefold() in title.casefold())]


_COMMON = frozenset(
    (
        "course", "python", "data", "science",
        "introduction", "using", "with", "learning", "open", "tool", "effect", "role", "materials",
    )
)  # fmt: skip
