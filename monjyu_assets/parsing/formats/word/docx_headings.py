"""Headings of Word documents that were written without heading styles: bold or large lines that stand alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monjyu_assets.parsing.formats.word.docx_front import Paragraph
from monjyu_assets.parsing.formats.word.docx_styles import Look, Styles
from monjyu_assets.parsing.text.heading_types import section_type, strip_numbering
from monjyu_assets.parsing.text.labels import ABSTRACT

_LONGEST, _SHORT = 120, 60
_SENTENCE_END = re.compile(r"[.!?。！？;,、…][\"'”’)\]]*$")


def find_headings(paragraphs: Sequence[Paragraph], styles: Styles) -> None:
    """Give a level to what looks like a heading where fewer than two paragraphs are headings by style; elsewhere only
    to an abstract in front of them."""
    styled = [i for i, paragraph in enumerate(paragraphs) if paragraph.level is not None]
    if len(styled) >= 2:
        top = min(paragraphs[i].level or 1 for i in styled)
        for paragraph in paragraphs[: styled[0]]:
            if ABSTRACT.fullmatch(paragraph.text.strip()):
                paragraph.level = top
        return
    looks = [Look(paragraph.element, styles) for paragraph in paragraphs]
    body = _body_size(paragraphs, looks)
    found = [i for i, p in enumerate(paragraphs) if p.level is None and _is_heading(p, looks[i], body)]
    sure = [i for i in found if _is_sure(paragraphs[i].text)]
    begins = min(sure, default=0)
    found = [i for i in found if i >= begins and _has_text_below(i, set(found), paragraphs, i in sure)]
    numbers = {i: number for i in found if (number := strip_numbering(paragraphs[i].text)[0])}
    sizes = sorted({looks[i].size for i in found}, reverse=True)
    first = {looks[i].size for i, number in numbers.items() if "." not in number}
    for i in found:
        plain = 1 if looks[i].size in first else 1 + sizes.index(looks[i].size)
        paragraphs[i].level = min(1 + numbers[i].count(".") if i in numbers else plain, 6)


def _is_sure(text: str) -> bool:
    """A known section name, or one with a number."""
    return section_type(text) != "other" or strip_numbering(text)[0] is not None


def _body_size(paragraphs: Sequence[Paragraph], looks: Sequence[Look]) -> float:
    """The size of most letters."""
    letters: dict[float, int] = {}
    for paragraph, look in zip(paragraphs, looks, strict=True):
        letters[look.size] = letters.get(look.size, 0) + len(paragraph.text)
    return max(letters, key=lambda size: letters[size], default=0.0)


def _is_heading(paragraph: Paragraph, look: Look, body: float) -> bool:
    text = paragraph.text.strip()
    if paragraph.role or len(text) > _LONGEST or "\n" in text or not re.search(r"[^\W\d_]{2}", text):
        return False
    if _SENTENCE_END.search(text) or re.match(r"(?:fig(?:ure|\.)|table|図|表)\s*\d", text, re.IGNORECASE):
        return False
    known = section_type(text) != "other" and not text[:1].islower()
    return known or look.bold or look.underlined or look.size > body + 0.9 or _capitals(text)


def _capitals(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    return (
        len(letters) >= 4 and len(text) <= _SHORT and all(map(str.isupper, letters)) and not re.search(r"\d{3}", text)
    )


def _has_text_below(index: int, headings: set[int], paragraphs: Sequence[Paragraph], sure: bool) -> bool:
    """Text, or one more heading and then text: a row of bold lines is a list or a table. Below a known name any
    sentence will do."""
    below = range(index + 1, min(index + 3, len(paragraphs)))
    texts = [paragraphs[i].text.strip() for i in below if i not in headings]
    return any(len(text) > 40 or (sure and _SENTENCE_END.search(text)) for text in texts)
