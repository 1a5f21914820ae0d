"""Reads the running text of a page: paragraphs with citations marked; tables, figures, formulas and notes are
separated."""

import re
from collections.abc import Iterator

from monjyu_assets.parsing.bibliography.bibtex import plain_of_latex
from monjyu_assets.parsing.formats.html.tree import UNSEEN, names
from monjyu_assets.parsing.text.author_block import ABSTRACT, LINE, raised, unraised
from monjyu_assets.parsing.text.author_block import KEYWORDS as LABEL_OF_KEYWORDS
from monjyu_assets.parsing.text.common import split_keywords
from monjyu_assets.parsing.text.front_lines import without_label
from monjyu_assets.parsing.text.marks import silent
from monjyu_assets.parsing.xml.tree import Element, Handler, XmlText, folded, math_text, plain, read_table, tex_of, tidy
from monjyu_core.language.packs import also
from monjyu_core.paper import Equation, Figure, ParsedPaper, Table

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "aside", "ul", "ol", "li", "dl", "dt", "dd", "blockquote"}
    | {"pre", "address", "details", "summary", "figure", "figcaption", "table", "caption", "tr", "hr", "center"}
    | {*HEADINGS, "hgroup", "body", "tbody", "thead", "tfoot", "search", "fieldset"}
)
_SOURCE_SPACE = re.compile(r"[ \t\r\n\f]+")
_WIDE = re.compile(r"[^\S\n]{3,}|[\u2001\u2003]\s*")
_WHOLE = ("p", "ul", "ol", "table", "math", "figure")
"""Elements of an abstract that are read as they are."""
_UNSEEN = frozenset(
    {UNSEEN, "img", "picture", "source", "col", "colgroup", "head", "title", "meta", "link", "rp", "rt"}
)
_FLOAT = re.compile(
    r"(?:[\w-]{0,20}[-_])?(?:fig|figure|tw|table-?wrap|table_wrap|fig-?wrap|fig_wrap|ltx_float|table-container)"
)
_FIGURE_LABEL = re.compile(
    r"(?i)\s*(?:(?:supplementary|extended data|online|appendix)\s+)?(?:figure|fig|table|tab|algorithm|listing"
    + also("captions.figure")
    + r")\.?\s*[A-Z]?[\dIVX]{1,5}(?:\.\d{1,3})?[a-z]?\s*[.:|—–-]?(?:\s+|$)"
)
_CAPTION = ("caption", "ltx_caption", "figure-caption", "fig-caption", "table-caption", "html-caption")
_NOTE = re.compile(r"#?(?:[\w.:-]{0,40}[-_.:])?(?:fn|footnote|note|foot|endnote)[-_:.]?[\w-]{0,20}")
KEYWORDS = re.compile(r"kwd-group|keywords?(?:[-_](?:section|list|group))?|ltx_keywords|ltx_classification")
_VIEW = re.compile(
    r"(?i)(?:full[- ]size (?:image|table)|open in (?:a )?new tab|download .{0,40}|enlarge|expand|figure viewer"
    r"|view (?:in article|large|full|image|table|figure).{0,30}|powerpoint(?: slide)?"
    r"|(?:open|show) (?:image|figure|table).{0,20})"
)
"""Texts of links below a figure."""
_EQUATIONS = re.compile(r"ltx_equation|ltx_eqn|disp-formula|(?:equation|align|gather|multline|eqnarray)(?:-star)?$")
"""Tables that only place formulas and their numbers, of LaTeXML, publishers and TeX4ht."""
_DRAWN = "mjx-math"
"""The class of a formula that MathJax has drawn; its `aria-label` can be the TeX."""
_BACK = re.compile(
    r"ltx_tag_(?:item|note)|ltx_note_(?:mark|type)|footnote-back|ltx_eqn_eqno|(?:[\w-]{0,30}[-_])?equation[-_]*(?:number|label)|eqno"
)
_TEX = re.compile(r"mathjax-tex|tex|math")
_OPENED = re.compile(r"\s*(?:\$|\\\(|\\\[|\\begin\{)")


def is_float(element: Element) -> bool:
    """Whether the element is a figure or table with its caption."""
    return element.tag == "figure" or any(map(_FLOAT.fullmatch, names(element)))


class HtmlText(XmlText):
    """Reads the text of elements; tables, figures and formulas in them are added to the paper."""

    def __init__(self, paper: ParsedPaper, anchors: dict[str, str], layout: set[Element]) -> None:
        super().__init__(_BLOCKS, _UNSEEN, {})
        self.paper = paper
        self._anchors = anchors
        self._layout = layout
        self._notes: list[str] = []
        self._part = ""
        self._in_heading = False
        self.in_front = True
        """Whether line breaks and raised letters are still marked: above the first heading they separate names."""
        self._by_tag: dict[str, Handler] = {
            "p": self._paragraph,
            "br": lambda element: LINE if self.in_front else " ",
            "a": self._link,
            "sup": self._sup,
            "math": self._math,
            "script": self._math_script,
            "table": self._any_table,
            "span": self._named,
            "div": self._named,
            "section": self._named,
            "figure": self._float,
            "td": self._cell,
            "th": self._cell,
            "q": lambda element: f"“{self.inner(element)}”",
        }

    def piece(self, element: Element) -> str:
        handler = self._by_tag.get(element.tag) if isinstance(element.tag, str) else None
        return handler(element) if handler else super().piece(element)

    def characters(self, text: str | None) -> str:
        """A piece of character data; above the first heading, wide gaps are line breaks."""
        return (
            LINE.join(map(folded, _WIDE.split(_SOURCE_SPACE.sub(" ", text))))
            if text and self.in_front
            else folded(text)
        )

    def heading(self, element: Element) -> str:
        """Return a heading on one line, with formulas as plain letters."""
        before, self._in_heading = self._in_heading, True
        text = self.line(element).replace(LINE, " ")
        self._in_heading = before
        return " ".join(unraised(text).split())

    def abstract(self, element: Element, named: Element | None) -> str:
        """Return the text of an abstract without the heading that names it. Headings of its parts are run in, and its
        keywords are added to the paper."""
        self._part = ""
        return without_label(tidy(self._inside_abstract(element, named)))

    def _inside_abstract(self, element: Element, named: Element | None) -> str:
        pieces = [self._run_in(folded(element.text))]
        for child in element:
            if any(map(KEYWORDS.fullmatch, names(child))):
                self.keywords(child)
            elif child is named:
                pass
            elif child.tag in _WHOLE or next(child.iter(*HEADINGS, "p"), None) is None:
                pieces.append(self._run_in(self.piece(child)))
            elif child.tag in HEADINGS:
                self._part = self.heading(child).rstrip(": ")
            else:
                pieces.append(f"\n\n{self._inside_abstract(child, named)}\n\n")
            pieces.append(self._run_in(folded(child.tail)))
        return "".join(pieces)

    def _run_in(self, text: str) -> str:
        """The text with the pending heading of its part in front."""
        if not self._part or not text.strip():
            return text
        part, self._part = self._part, ""
        return f"\n\n{part}: {text.strip()}\n\n"

    def keywords(self, element: Element) -> None:
        """Set the paper's keywords, if it has none, from the items of a list, otherwise from the parts between commas
        or semicolons."""
        items = [word for item in element.iter("li") if (word := self.line(item).strip(" ,;·"))]
        said = self.line(element)
        said = said[match.end() :] if (match := LABEL_OF_KEYWORDS.match(said)) else said
        self.paper.keywords = self.paper.keywords or (items or split_keywords(said))[:200]

    def _paragraph(self, element: Element) -> str:
        """The text, followed by the footnotes found in it."""
        first = next(iter(element), None)
        label = plain(first) if first is not None and first.tag in ("b", "strong") else ""
        alone = not (element.text or "").strip() and label[-1:].isalpha()
        if first is not None and alone and any(each.fullmatch(label) for each in (LABEL_OF_KEYWORDS, ABSTRACT)):
            first.tail = f": {first.tail or ''}"
        text = f"\n\n{self.inner(element)}\n\n"
        return text + self.take_notes()

    def take_notes(self) -> str:
        notes, self._notes = self._notes, []
        return "".join(f"\n\n{note}\n\n" for note in notes)

    def _link(self, element: Element) -> str:
        target = (element.get("href") or "").rpartition("#")[2] if "#" in (element.get("href") or "") else ""
        target = target or element.get("data-bib-id") or element.get("rid") or ""
        key = self._anchors.get(target)
        text = self.inner(element)
        if key is not None:
            return silent(key) + text
        role = element.get("role") or ""
        if role in ("doc-noteref", "doc-backlink") or "footnote-ref" in names(element):
            return ""
        if target and _NOTE.fullmatch(target.lower()) and re.fullmatch(r"\s*[\[(]?(?:\w{1,3}|[*†‡§¶#])[\])]?\s*", text):
            return ""
        return text

    def _sup(self, element: Element) -> str:
        if any(map(_BACK.fullmatch, names(element))):
            return ""
        if not (element.text or len(element)):
            return ""
        return raised(self.inner(element)) if self.in_front else self.raised(element)

    def _cell(self, element: Element) -> str:
        return f" {self.inner(element)} "

    def _named(self, element: Element) -> str:
        """An element whose kind is determined by its class and id."""
        called = names(element)
        if called:
            if any(map(_BACK.fullmatch, called)):
                return ""
            if "refctt" in called and "footnote" not in names(element.getparent()):
                return ""  # the entry of the list, which SciELO shows above its citation
            if "ltx_note" in called or "refctt" in called:
                return self._note(element)
            if element.tag != "span" and is_float(element):
                return self._float(element)
            if _DRAWN in called and (drawn := element.get("aria-label")):
                return self._formula(tex_of(drawn), None, "mjxc-display" in names(element.getparent()))
            if "mjx-chtml" in called and (math := next(element.iter("math"), None)) is not None:
                return self._math(math)
            if any(map(_TEX.fullmatch, called)) and (text := self._tex(element, called)) is not None:
                return text
        if element.tag == "span":
            return self.inner(element)
        return f"\n\n{self.inner(element)}{self.take_notes() if element.tag == 'div' else ''}\n\n"

    def _note(self, element: Element) -> str:
        """Collect a footnote, which is placed after its paragraph."""
        outer, self._notes = self._notes, []
        text = tidy(self.inner(element))
        self._notes = [*self._notes, *outer] if outer else self._notes
        if text:
            self._notes.append(text)
        return ""

    def _tex(self, element: Element, called: list[str]) -> str | None:
        """The formula of an element with TeX that a script on the page would draw; None for other elements."""
        if len(element) or not _OPENED.match(element.text or ""):
            return None
        text = plain(element)
        return self._formula(tex_of(text), None, "display" in called or text.startswith(("$$", "\\[", "\\begin")))

    def _math_script(self, element: Element) -> str:
        display = "display" in (element.get("type") or "")
        return self._formula(tex_of(element.text or ""), None, display)

    def _math(self, element: Element) -> str:
        return self._formula(_latex(element), element, element.get("display") == "block")

    def _formula(self, latex: str | None, math: Element | None, display: bool) -> str:
        if self._in_heading:
            return math_text(math) if math is not None else plain_of_latex(latex or "")
        text = latex or (math_text(math) if math is not None else "")
        if text:
            self.paper.equations.append(Equation(text=text, latex=latex or None, inline=not display))
        return f"\n\n{text}\n\n" if display else text

    def _any_table(self, element: Element) -> str:
        return self._read_table(element) if element in self._layout else self.apart(self._read_table, element)

    def apart(self, read: Handler, element: Element) -> str:
        """Read an element without marking line breaks and raised letters, because it contains no names even above the
        first heading."""
        before, self.in_front = self.in_front, False
        text = read(element)
        self.in_front = before
        return text

    def _read_table(self, element: Element) -> str:
        called = names(element)
        if any(_EQUATIONS.match(name) for name in called):
            return self._equations(element)
        if element in self._layout:
            return f"\n\n{self.inner(element)}\n\n"
        table = self._table(element)
        caption = element.find("caption")
        table.caption = self._caption_of(self.line(caption)) if caption is not None else None
        if table.headers or table.rows:
            self.paper.tables.append(table)
        return ""

    def _equations(self, element: Element) -> str:
        """Add one formula per row of a table; return all of them as paragraphs."""
        said: list[str] = []
        for row in element.iter("tr"):
            maths = list(row.iter("math"))
            if not maths:
                cells = [cell for cell in row if not any(map(_BACK.fullmatch, names(cell)))]
                drawn = [" ".join((image.get("alt") or "").split()) for cell in cells for image in cell.iter("img")]
                said.append(tidy("".join([*map(self.piece, cells), *drawn])))
                self.paper.equations += [Equation(text=text) for text in drawn if text]
                continue
            latex = " ".join(part for math in maths if (part := _latex(math)))
            text = latex or " ".join(map(math_text, maths))
            self.paper.equations.append(Equation(text=text, latex=text if latex else None))
            said.append(text)
        return "\n\n" + "\n\n".join(said) + "\n\n"

    def _table(self, element: Element) -> Table:
        heads = element.findall("thead/tr")
        rows = [row for row in element.iter("tr") if row.getparent().tag != "thead"]
        return read_table(heads, rows, self._cell_line)

    def _cell_line(self, cell: Element) -> str:
        """A cell; its formulas do not count as equations of the paper."""
        before = len(self.paper.equations)
        text = self.line(cell)
        del self.paper.equations[before:]
        return text

    def _float(self, element: Element) -> str:
        return self.apart(self._read_float, element)

    def _read_float(self, element: Element) -> str:
        """Add a figure or tables with their caption; return the text of an element that only looks like one."""
        inner = [table for table in element.iter("table") if table not in self._layout]
        if any(name.startswith("ltx_eqn") or name.startswith("ltx_equation") for t in inner for name in names(t)):
            return f"\n\n{self.inner(element)}\n\n"
        if (
            element.tag != "figure"
            and not inner
            and next(element.iter("img", "figcaption", "picture", UNSEEN), None) is None
        ):
            return f"\n\n{self.inner(element)}\n\n"
        caption = self._caption(element)
        if inner:
            for number, table in enumerate(inner):
                found = self._table(table)
                found.caption = caption if number == 0 else None
                self.paper.tables.append(found)
        elif caption and re.match(r"(?i)(?:ltx_table|table|tw)", " ".join(names(element))):
            self.paper.tables.append(Table(caption=caption))
        elif caption or next(element.iter("img", "picture"), None) is not None:
            alt = next((img.get("alt") or "" for img in element.iter("img")), "")
            self.paper.figures.append(Figure(caption=caption or " ".join(alt.split())[:1000] or None))
        if inner or next(element.iter("pre", "blockquote"), None) is None:
            return ""
        return "".join(self.piece(code) for code in element.iter("pre", "blockquote"))

    def _caption(self, element: Element) -> str | None:
        found = element.find("figcaption")
        if found is None:
            found = next(element.iter("figcaption", "caption"), None)
        if found is None:
            found = next((e for e in element.iter("div", "p", "span") if any(n in _CAPTION for n in names(e))), None)
        heads = list(element.iter(*HEADINGS))[:1]
        about = [e for e in element.iter("div", "p") if any("description" in n for n in names(e))][:1]
        parts = [*heads, *([] if found is None else [found]), *about]
        texts = [*map(self.line, parts), tidy(" ".join(self._around(element, set(parts))))]
        kept = [text for number, text in enumerate(texts) if text and text not in " ".join(texts[:number])]
        return self._caption_of(" ".join(" ".join(kept).split()))

    def _around(self, element: Element, known: set[Element]) -> Iterator[str]:
        """Yield the text in a figure or around a table except its caption: its foot, captions of its parts."""
        yield folded(element.text)
        for child in element:
            table = child.tag == "table" and child not in self._layout
            if child not in known and not table and child.tag not in ("pre", "blockquote"):
                if child.tag == "a" and _VIEW.fullmatch(plain(child)):
                    pass
                elif child.tag in _BLOCKS or (
                    isinstance(child.tag, str) and next(child.iter("table"), None) is not None
                ):
                    yield from self._around(child, known)
                else:
                    yield self.piece(child)
            yield folded(child.tail)

    def _caption_of(self, text: str) -> str | None:
        return _FIGURE_LABEL.sub("", text, count=1).strip() or None


def _latex(math: Element) -> str | None:
    """The TeX source of a formula: an annotation, or LaTeXML's `alttext`."""
    for note in math.iter("annotation"):
        if "tex" in (note.get("encoding") or "").lower() and (text := tex_of(plain(note))):
            return text
    alt = math.get("alttext") or ""
    return tex_of(alt) if "\\" in alt or re.search(r"[_^=]|^\s*\w\s*$", alt) else None
