"""Inline Markdown to plain text: emphasis, links, code, maths, images, notes and pandoc citations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from monjyu_assets.parsing.formats.markdown.html_text import is_word
from monjyu_assets.parsing.text.common import CJK
from monjyu_core.paper import Equation, Figure

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

    from monjyu_assets.parsing.bibliography.pandoc_citations import Citer

_KEY = r"-?@\{?([\w](?:[\w:.#$%&+?<>~/-]*[\w/])?)\}?"
_CITED = re.compile(rf"\[(?=[^\[\]]{{0,500}}@\w)([^\[\]]{{1,2000}})\]|(?<![\w@/.]){_KEY}")
_RAISED = "\u00b9\u00b2\u00b3\u2070-\u2079"
_SUPERSCRIPT = re.compile(
    rf"<sup>[^<]{{0,40}}</sup>|\^[^\s^]{{1,20}}\^|(?<=\w)[{_RAISED}]+(?:,[{_RAISED}]+)*(?=[\s,;]|$)"
)
_LINK = re.compile(r"\[([^\[\]]{0,200})\]\([^()\s]{0,500}\)")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,100}>")
_EMPHASIS = re.compile(r"[*_`]+")
_UNSEEN_TAGS = re.compile(r"<(script|style|iframe|template|textarea)\b")


def plain_lines(source: str) -> list[str]:
    """The lines of a paragraph's source without marks of emphasis, links and tags."""
    clean = _SUPERSCRIPT.sub("", source)
    clean = _TAG.sub(lambda tag: tag[0] if is_word(tag[0]) else "", _LINK.sub(r"\1", clean))
    clean = _EMPHASIS.sub("", clean)
    return [line for part in clean.splitlines() if (line := part.strip(" \t\\"))]


class InlineReader:
    """Reads inline nodes; images go to `figures`, formulas to `equations`, called footnotes wait in `take_notes`.

    A `citer` writes out the citations whose keys it knows.
    """

    def __init__(self, figures: list[Figure], equations: list[Equation], citer: Citer | None = None) -> None:
        self.footnotes: dict[int, str] = {}
        self._figures = figures
        self._equations = equations
        self._notes: list[str] = []
        self._citer = citer

    def read(self, node: SyntaxTreeNode) -> str:
        """Text of one `inline` node; a paragraph that is only an image gives none: its text is the caption."""
        images = [child for child in node.children if child.type == "image"]
        if images and all(child.type in ("image", "softbreak", "hardbreak") for child in node.children):
            for image in images:
                self._figure(image)
            return ""
        pieces = self._pieces(node)
        text = "".join(self._cited(text) if running else text for text, running in _runs(pieces))
        text = re.sub(rf"(?<=[{CJK}])\n(?=[{CJK}])", "", text)
        return re.sub(r"[ \t]*\n[ \t]*|[ \t]{2,}", " ", text).strip()

    def _cited(self, text: str) -> str:
        return _citations(self._citer.write_out(text) if self._citer else text)

    def take_notes(self) -> list[str]:
        """Texts of the footnotes called since the last time."""
        notes, self._notes = self._notes, []
        return notes

    def _pieces(self, node: SyntaxTreeNode) -> list[tuple[str, bool]]:
        """(text, is running text) of the children; code and maths are taken as they are."""
        pieces: list[tuple[str, bool]] = []
        unseen = ""
        for child in node.children:
            if child.type == "html_inline":
                tag = child.content.lower()
                if not unseen and is_word(tag):
                    pieces.append((child.content, False))
                    continue
                if opened := _UNSEEN_TAGS.match(tag):
                    unseen = opened[1]
                elif tag.startswith(f"</{unseen}"):
                    unseen = ""
                pieces.append((" " if tag.startswith("<br") else "", True))
            elif not unseen:
                pieces.extend(self._piece(child))
        return pieces

    def _piece(self, node: SyntaxTreeNode) -> list[tuple[str, bool]]:
        match node.type:
            case "text":
                return [(re.sub(r"(?<=[^\W_])--(?=[^\W_])", "\u2013", node.content), True)]
            case "code_inline":
                return [(node.content, False)]
            case "math_inline" | "math_inline_double":
                inline = node.type == "math_inline"
                self._equations.append(Equation(text=node.content, latex=node.content, inline=inline))
                return [(node.content, False)]
            case "softbreak" | "hardbreak":
                return [("\n", True)]
            case "image":
                return [(self._figure(node), True)]
            case "footnote_ref":
                if note := self.footnotes.get(node.meta.get("id", -1)):
                    self._notes.append(note)
                return []
            case "link":
                inner = [child for child in node.children if child.type != "image"]  # a badge says nothing
                return [piece for child in inner for piece in self._piece(child)]
            case _:
                return self._pieces(node)

    def _figure(self, node: SyntaxTreeNode) -> str:
        alt = "".join(text for text, _ in self._pieces(node)) if node.children else node.content
        caption = " ".join((alt or str(node.attrs.get("title", ""))).split())
        caption = re.sub(r"\\label\{[^{}]*\}", "", self._cited(caption)).strip()
        self._figures.append(Figure(caption=caption or None))
        return ""


def _runs(pieces: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Neighbouring pieces of running text as one, so that a citation broken by a line end is seen whole."""
    runs: list[tuple[list[str], bool]] = []
    for text, running in pieces:
        if runs and running and runs[-1][1]:
            runs[-1][0].append(text)
        else:
            runs.append(([text], running))
    return [("".join(texts), running) for texts, running in runs]


def _citations(text: str) -> str:
    """`[see @lewis2020, p. 3; @edge2024]` as `[see lewis2020, p. 3; edge2024]`, `@lewis2020` as `lewis2020`."""

    def readable(match: re.Match[str]) -> str:
        if match[1] is not None:
            return f"[{re.sub(_KEY, lambda key: key[1], match[1])}]"
        return match[2] if re.search(r"\d", match[2]) else match[0]

    return _CITED.sub(readable, text)
