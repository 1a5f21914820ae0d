"""The words of raw HTML inside Markdown, without its markup, in time that grows with its length only."""

from __future__ import annotations

import re
from html import escape, unescape
from itertools import islice

from monjyu_assets.parsing.xml.html_tags import ATTRIBUTE, MOST_ATTRIBUTES, TAG
from monjyu_core.paper import Figure

_UNSEEN = {"script", "style", "template", "noscript", "iframe", "object", "svg", "math", "head", "textarea", "select"}
_BLOCKS = {"p", "div", "br", "li", "tr", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "summary", "figcaption", "hr"}
_MARKUP = re.compile(
    r"<(?P<code>script|style)\b.*?(?:</(?P=code)\b[^>]*+(?:>|\Z)|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)"
    rf"|{TAG.pattern}|</(?P<closed>[a-zA-Z][^\s/>]*+)[^>]*+(?:>|\Z)|<[!?/][^>]*+(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""What is never closed runs to the end of the text: no place is read twice."""

_BARE_TAG = re.compile(r"</?([A-Za-z]\w{0,30})\s{0,3}>")
_NEWER = frozenset({"data", "dialog", "picture", "search", "slot", "template", "g", "path"})
"""Elements that lxml does not list."""


class _Words:
    def __init__(self) -> None:
        self.words: list[str] = []
        self.images: list[str] = []
        self.caption: list[str] = []
        self._in_caption = False
        self._unseen = 0

    def read(self, html: str) -> None:
        at = 0
        for match in _MARKUP.finditer(html):
            self._text(html[at : match.start()])
            at = match.end()
            if match["name"]:
                self._opened(match["name"].lower(), match["attributes"])
            elif match["closed"]:
                self._closed(match["closed"].lower())
        self._text(html[at:])

    def _opened(self, tag: str, attributes: str) -> None:
        self._unseen += tag in _UNSEEN
        if tag in _BLOCKS:
            self.words.append("\n")
        self._in_caption = self._in_caption or tag == "figcaption"
        if tag == "img":
            self.images.append(_alternative(attributes))
        if attributes.endswith("/"):
            self._closed(tag)

    def _closed(self, tag: str) -> None:
        self._unseen = max(0, self._unseen - (tag in _UNSEEN))
        self._in_caption = self._in_caption and tag not in ("figcaption", "figure")
        if tag in _BLOCKS:
            self.words.append("\n")

    def _text(self, text: str) -> None:
        if text and not self._unseen:
            (self.caption if self._in_caption else self.words).append(unescape(text))


def _alternative(attributes: str) -> str:
    """The value of `alt` among a tag's attributes."""
    for found in islice(ATTRIBUTE.finditer(attributes), MOST_ATTRIBUTES):
        if found[1].lower() == "alt":
            return unescape(found[0].partition("=")[2].strip().strip("\"'"))
    return ""


def is_word(tag: str) -> bool:
    """Whether `<think>` is a word of a paper: HTML knows no such element, and nothing but its name is in it."""
    from lxml.html.defs import tags

    named = _BARE_TAG.fullmatch(tag)
    return named is not None and named[1].lower() not in tags | _NEWER


def html_text(html: str, figures: list[Figure]) -> str:
    """Text of an HTML fragment, its images added to `figures`; comments, scripts and styles are left out."""
    parser = _Words()
    parser.read(_BARE_TAG.sub(lambda tag: escape(tag[0]) if is_word(tag[0]) else tag[0], html))
    caption = " ".join("".join(parser.caption).split()) or None
    for alt in parser.images:
        if caption or alt:
            figures.append(Figure(caption=caption or alt))
    lines = (" ".join(line.split()) for line in "".join(parser.words).split("\n"))
    return re.sub(r"\n{2,}", "\n", "\n".join(lines)).strip()
