"""Markdown and plain text: paragraphs with marks, and the list of references that ends them."""

from __future__ import annotations

import re

from monjyu_query.drafts.citation_marks import mark_text
from monjyu_query.drafts.cited_works import is_heading, works_of_list
from monjyu_query.drafts.draft_pages import Pages

_FRONT = re.compile(r"\A---\s*\n.*?\n(?:---|\.\.\.)\s*\n", re.S)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s")
_UNDERLINE = re.compile(r"^ {0,3}(?:=+|-{3,})\s*$")
_ITEM = re.compile(r"^\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s+")
_NOTE = re.compile(r"^ {0,3}\[(?:\^?[\w-]{1,30})\]:\s+")
_ENTRY = re.compile(r"^\s{0,8}(?:[-*+•]\s+|\[\^?\w{1,12}\]:?\s+|\(?\d{1,4}[.)]\s+)")
_BULLET = re.compile(r"^\s*[-*+•]\s+")
_EMPHASIS = re.compile(r"\*+|`+|(?<!\w)_+|_+(?!\w)")


def read_markdown(text: str, pages: Pages) -> None:
    """Fill `pages`. Code, comments, headings and what is between tags' brackets are left out."""
    listed: list[str] = []
    for lines, of_list in _paragraphs(_COMMENT.sub("", _FRONT.sub("", text))):
        if of_list:
            listed.append(_BULLET.sub("", " ".join(lines)))
        else:
            plain = _EMPHASIS.sub("", _TAG.sub("", " ".join(line.strip() for line in lines)))
            pages.texts.append(mark_text(_ITEM.sub("", plain), pages))
    pages.works.listed += works_of_list(_EMPHASIS.sub("", _TAG.sub("", entry)) for entry in listed)


def _paragraphs(text: str) -> list[tuple[list[str], bool]]:
    """The lines of each paragraph, item or entry, and whether it is an entry of the list of references."""
    found: list[tuple[list[str], bool]] = []
    open_lines: list[str] = []
    fence, in_list = "", False

    def close() -> None:
        if open_lines:
            found.append((list(open_lines), in_list))
            open_lines.clear()

    for line in text.splitlines():
        line = line.lstrip("> ") if line.startswith(">") else line
        fenced = _FENCE.match(line)
        if fence or fenced:
            close()
            if fenced:
                fence = "" if fence and fenced[1].startswith(fence) else fence or fenced[1]
        elif _HEADING.match(line) or is_heading(line):
            close()
            in_list = is_heading(line)
        elif _UNDERLINE.match(line):
            heading = open_lines[-1] if len(open_lines) == 1 else ""
            if heading:
                open_lines.clear()
                in_list = is_heading(heading)
        elif not line.strip():
            close()
        elif _NOTE.match(line):
            close()
            found.append(([line], True))
        else:
            if (_ENTRY if in_list else _ITEM).match(line):
                close()
            open_lines.append(line)
    close()
    return found
