"""Headings of Word documents that were written without heading styles: bold or large lines that stand alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monjyu_assets.parsing.formats.word.docx_front import Paragraph
from monjyu_assets.parsing.formats.word.docx_styles import Look, Styles
from monjyu_assets.parsing.text.heading_types import section_type, strip_numbering

_LONGEST = 120
_SENTENCE_END = re.compile(r"[.!?。！？;,、…][\"'”’)\]]*$")


def find_headings(paragraphs: Sequence[Paragraph], styles: Styles) -> None:
    """Give a level to what looks like a heading, if fewer than two paragraphs are headings by style."""
    if sum(paragraph.level is not None for paragraph in paragraphs) >= 2:
        return
    looks = [Look(paragraph.element, styles) for paragraph in paragraphs]
    body = _body_size(paragraphs, looks)
    found = [i for i, p in enumerate(paragraphs) if p.level is None and _is_heading(p, looks[i], body)]
    found = [i for i in found if _has_text_below(i, set(found), paragraphs)]
    sizes = sorted({looks[i].size for i in found}, reverse=True)
    for i in found:
        number, _ = strip_numbering(paragraphs[i].text)
        depth = 1 + number.count(".") if number else 1 + sizes.index(looks[i].size)
        paragraphs[i].level = min(depth, 6)


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
    return known or look.bold or look.size > body + 0.9


def _has_text_below(index: int, headings: set[int], paragraphs: Sequence[Paragraph]) -> bool:
    """Text, or one more heading and then text: a row of bold lines is a list or a table."""
    below = range(index + 1, min(index + 3, len(paragraphs)))
    return any(i not in headings and len(paragraphs[i].text) > 40 for i in below)
