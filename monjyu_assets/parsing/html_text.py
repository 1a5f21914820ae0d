"""The words of raw HTML inside Markdown, without its markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from monjyu_core.paper import Figure

_UNSEEN = {"script", "style", "template", "noscript", "iframe", "object", "svg", "math", "head", "textarea", "select"}
_BLOCKS = {"p", "div", "br", "li", "tr", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "summary", "figcaption", "hr"}


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self.images: list[str] = []
        self.caption: list[str] = []
        self._in_caption = False
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in _UNSEEN
        if tag in _BLOCKS:
            self.words.append("\n")
        self._in_caption = self._in_caption or tag == "figcaption"
        if tag == "img":
            self.images.append(dict(attrs).get("alt") or "")

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(0, self._unseen - (tag in _UNSEEN))
        self._in_caption = self._in_caption and tag not in ("figcaption", "figure")
        if tag in _BLOCKS:
            self.words.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            (self.caption if self._in_caption else self.words).append(data)


def html_text(html: str, figures: list[Figure]) -> str:
    """Text of an HTML fragment, its images added to `figures`; comments, scripts and styles are left out."""
    parser = _Words()
    try:
        parser.feed(html)
        parser.close()
    except AssertionError:  # html.parser on a malformed declaration
        return ""
    caption = " ".join("".join(parser.caption).split()) or None
    for alt in parser.images:
        if caption or alt:
            figures.append(Figure(caption=caption or alt))
    lines = (" ".join(line.split()) for line in "".join(parser.words).split("\n"))
    return re.sub(r"\n{2,}", "\n", "\n".join(lines)).strip()
