"""Labels that a paper prints in front of its parts, in every language: "Abstract", "Mots-clés :", "Abb. 3", 图1."""

from __future__ import annotations

import re

from monjyu_assets.parsing.text.heading_types import section_type
from monjyu_core.language.vocabulary import alternatives, folded, words


def _spaced(key: str) -> str:
    """The words under a key, also with a space between their letters (A B S T R A C T)."""
    forms = dict.fromkeys(form for word in words(key) for form in (word, folded(word)))
    return "(?:" + "|".join(r"\s?".join(map(re.escape, form.replace(" ", ""))) for form in forms) + r")(?![^\W\d_])"


_MARK = r"\s*[.:：\u2014\u2013-]+\s*"
_ABSTRACT = _spaced("labels.abstract")
ABSTRACT = re.compile(rf"[【\[<(]?(?P<word>{_ABSTRACT})[】\]>)]?(?P<mark>{_MARK}|\s+|$)", re.I)
"""At the head of a line: the label of an abstract, and what stands between it and the text."""
KEYWORDS = re.compile(rf"[【\[<(]?{_spaced('labels.keywords')}[】\]>)]?(?:{_MARK}|\s*)", re.I)
"""At the head of a line, with the mark behind it."""

_FIGURE, _TABLE = alternatives("labels.figure"), alternatives("labels.table")
_MORE = r"(?:(?:supplementary|extended\s+data|appendix)\s+)?"
CAPTION = re.compile(
    rf"(?P<kind>{_MORE}(?:(?P<table>{_TABLE})|{_FIGURE}))\s*\.?\s*"
    r"(?P<number>S?\d{1,3}[a-z]?|[IVX]{1,5}\b|[A-Z]\.?\d{1,2})\s*(?P<mark>[.:：|\u2013\u2014)-])?", re.I,
)  # fmt: skip
"""At the head of a caption; `table` is None in that of a figure."""
NUMBERED_FLOAT = re.compile(
    rf"{_MORE}(?:{_TABLE}|{_FIGURE}|algorithm|listing|box)\s*\.?\s*(?:S?\d+|[IVXL]+\b|[A-Z]\d*\b)", re.I
)
"""What a caption of any kind begins with."""
CONTENTS = re.compile(alternatives("labels.contents"), re.I)

RECEIVED, ACCEPTED, PUBLISHED = (
    re.compile(alternatives(f"labels.{name}"), re.I) for name in ("received", "accepted", "published")
)
"""In front of a date."""


def ends_front(line: str) -> bool:
    """Whether a line below the title begins the abstract, the keywords or the first section."""
    if ABSTRACT.match(line) or KEYWORDS.match(line) or line[:12].casefold() == "ccs concepts":
        return True
    return len(line) < 60 and section_type(line) in ("abstract", "introduction")
