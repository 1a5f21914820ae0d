"""The running text of a JATS paper: paragraphs, with citations marked; tables, figures and formulas kept separate."""

from __future__ import annotations

from monjyu_assets.parsing.text.text_marks import silent
from monjyu_assets.parsing.xml.xml_math import math_text, tex_of
from monjyu_assets.parsing.xml.xml_paper import read_table
from monjyu_assets.parsing.xml.xml_tree import Element, Handler, XmlText, plain, tidy
from monjyu_core.paper import Equation, Figure, ParsedPaper, Table

_BLOCKS = frozenset(
    {"p", "list", "list-item", "def-list", "def-item", "disp-quote", "boxed-text", "verse-group", "verse-line"}
    | {"statement", "speech", "title", "subtitle", "term", "def", "code", "preformat", "disp-formula-group", "app"}
    | {"attrib", "question-wrap", "question", "answer", "fn", "notes", "glossary", "sec", "gloss-group", "array"}
)
_UNSEEN = frozenset(
    {
        "object-id",
        "graphic",
        "inline-graphic",
        "related-article",
        "alt-text",
    }
    | {"long-desc", "sec-meta", "ref-list", "permissions", "x", "index-term", "processing-meta"}
)
_NOT_OWN = {"sec", "title", "label", "sec-meta", "ref-list", "app"}


class JatsText:
    """Reads the text of elements; tables, figures and formulas that it meets are added to the paper."""

    def __init__(self, paper: ParsedPaper) -> None:
        self.paper = paper
        self._notes: list[str] = []
        handlers: dict[str, Handler] = {
            "xref": self._xref,
            "p": self._paragraph,
            "fn": self._note,
            "sup": self._raised,
            "break": lambda element: " ",
            "alternatives": self._alternatives,
            "inline-formula": lambda element: self._formula(element, inline=True),
            "disp-formula": self._display,
            "tex-math": lambda element: self._formula(element, inline=True),
            "math": lambda element: self._formula(element, inline=True),
            "fig": self._figure,
            "media": self._figure,
            "fig-group": self._group,
            "table-wrap": self._table,
            "table-wrap-group": self._group,
            "supplementary-material": self._supplement,
            "label": self._label,
        }
        self._reader: XmlText = XmlText(_BLOCKS, _UNSEEN, handlers)

    def line(self, element: Element | None) -> str:
        return self._reader.line(element)

    def own(self, element: Element) -> str:
        """The paragraphs of a section, without its heading and its subsections."""
        text = self._reader.tidy_pieces([child for child in element if child.tag not in _NOT_OWN])
        notes, self._notes = self._notes, []
        return "\n\n".join([text, *notes]).strip()

    def note(self, element: Element) -> str:
        """A note of the front; one that gives only an address of mail says nothing more than the author's row."""
        text = self.own(element) if element.tag != "corresp" else self.line(element)
        return text if element.tag != "corresp" or len(text.split()) > 8 else ""

    def _raised(self, element: Element) -> str:
        return self._reader.raised(element)

    def _paragraph(self, element: Element) -> str:
        text = f"\n\n{self._reader.inner(element)}\n\n"
        notes, self._notes = self._notes, []
        return text + "".join(f"\n\n{note}\n\n" for note in notes)

    def _note(self, element: Element) -> str:
        """A footnote inside a paragraph moves behind it; one in a list of notes stays where it is."""
        if element.getparent().tag in ("fn-group", "notes", "back", "table-wrap-foot", "author-notes"):
            return f"\n\n{self._reader.inner(element)}\n\n"
        outer, self._notes = self._notes, []
        self._notes = [*outer, tidy(self._reader.inner(element))]
        return ""

    def _xref(self, element: Element) -> str:
        kind = element.get("ref-type") or ""
        if kind == "bibr":
            keys = "".join(silent(key) for key in (element.get("rid") or "").split()[:100])
            return keys + self._reader.inner(element)
        return "" if kind in ("fn", "table-fn", "author-notes", "corresp", "aff") else self._reader.inner(element)

    def _alternatives(self, element: Element) -> str:
        """One of several forms of the same thing."""
        for name in ("tex-math", "math", "table", "textual-form"):
            if (found := element.find(name)) is not None:
                return self._reader.piece(found)
        return ""

    def _formula(self, element: Element, inline: bool) -> str:
        tex = element if element.tag == "tex-math" else element.find(".//tex-math")
        latex = tex_of(plain(tex)) if tex is not None else None
        math = element if element.tag == "math" else element.find(".//math")
        text = latex or (math_text(math) if math is not None else tidy(self._words(element)))
        if text:
            self.paper.equations.append(Equation(text=text, latex=latex, inline=inline))
        return text

    def _display(self, element: Element) -> str:
        label = element.find("label")
        named = self._label(label) if label is not None else ""
        return f"\n\n{named}{self._formula(element, inline=False)}\n\n"

    def _words(self, element: Element) -> str:
        return self._reader.inner(element) if element.tag not in ("tex-math", "math") else plain(element)

    def _label(self, element: Element) -> str:
        """What a label says, where it is more than a number that is counted."""
        parent = element.getparent().tag
        words = self._reader.inner(element).strip()
        named = parent in ("statement", "boxed-text", "question") or (parent == "disp-formula" and words[:2].isalpha())
        return f"{words.rstrip('.:')}. " if named and words else ""

    def _caption(self, element: Element, *below: str) -> str | None:
        """A caption: its title, its paragraphs, and what stands below the figure or table (credits, notes)."""
        caption = element.find("caption")
        parts = [child for child in caption if child.tag in ("title", "p")] if caption is not None else []
        parts += [child for name in below for child in element.findall(name)]
        return " ".join(" ".join(text for part in parts if (text := self.line(part))).split()) or None

    def _figure(self, element: Element) -> str:
        """A figure, and those inside it, which are its supplements."""
        caption = self._caption(element, "attrib")
        if element.tag == "fig" or caption:
            self.paper.figures.append(Figure(caption=caption))
        for inner in element.iterchildren("p", "fig", "fig-group"):
            for found in [inner] if inner.tag != "p" else inner.iterchildren("fig", "fig-group"):
                self._reader.piece(found)
        return ""

    def _group(self, element: Element) -> str:
        if caption := self._caption(element):
            self.paper.figures.append(Figure(caption=caption))
        return self._reader.tidy_pieces([child for child in element if child.tag not in ("label", "caption")])

    def _supplement(self, element: Element) -> str:
        """What is said of a file beside the paper."""
        label = self.line(element.find("label")) or "".join(element.findtext("label") or "")
        said = [label.rstrip(". "), self._caption(element, "p") or ""]
        return f"\n\n{'. '.join(filter(None, said))}\n\n" if any(said) else ""

    def _table(self, element: Element) -> str:
        caption = self._caption(element, "table-wrap-foot", "attrib")
        for inner in element.iter("table"):
            heads = inner.findall("thead/tr")
            rows = [row for row in inner.iter("tr") if row.getparent().tag != "thead"]
            table = read_table(heads, rows, self.line)
            table.caption = caption
            self.paper.tables.append(table)
        if element.find(".//table") is None:
            self.paper.tables.append(Table(caption=caption))
        return ""
