"""Reads XML of papers safely into a tree, and has the code shared by the parsers of JATS and TEI.

No DTD is loaded, only named character entities are resolved, nothing is fetched, and libxml2's own bounds on depth and
size stay on.
"""

import re
from collections.abc import Callable, Sequence
from html.entities import html5
from typing import Any

from lxml import etree

from monjyu_assets.parsing.bibliography.bibtex import plain_of_latex
from monjyu_assets.parsing.bibliography.citations import link_citations
from monjyu_assets.parsing.bibliography.pandoc_citations import attach, take_places
from monjyu_assets.parsing.text.common import complete, judge
from monjyu_assets.parsing.text.decoding import clean
from monjyu_assets.parsing.text.marks import Places, past_spaces, unmarked
from monjyu_core.errors import DocumentTooLarge, MalformedDocument
from monjyu_core.paper import ParsedPaper, Reference, Table
from monjyu_core.settings.papers import ParseSettings

Element = Any
"""An lxml element; its tag and attributes are without namespaces."""

MOST_ATTRIBUTES = 1000
_HARMLESS = {"DTD_XMLID_VALUE", "DTD_ID_REDEFINED", "NS_ERR_UNDEFINED_NAMESPACE", "NS_ERR_QNAME"}
_BREAK = "\n\n"
_RAISED = "\x1e"


def read_tree(data: bytes, settings: ParseSettings) -> Element:
    """Return the root element, without namespaces. Raises MalformedDocument (not XML, or with its own entities) or
    DocumentTooLarge."""
    if len(data) > 4 * settings.max_characters:
        raise DocumentTooLarge(f"The XML has {len(data)} bytes.", "Raise parse.max_characters to read it.")
    try:
        root = etree.fromstring(data, _parser())
    except (etree.XMLSyntaxError, ValueError) as error:
        root = _despite_names(data)
        if root is None:
            raise MalformedDocument(f"The XML is damaged: {str(error)[:200]}.") from None
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and next(declared.iterentities(), None) is not None:
        raise MalformedDocument("The XML declares entities of its own, which are not read.", "Save it without them.")
    for element in root.iter(etree.Element):
        _without_namespaces(element)
    return root


def _parser(**more: object) -> Any:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        **more,
    )


def _despite_names(data: bytes) -> Element | None:
    """The root of XML whose only faults are names: an id that begins with a digit, or an undeclared prefix. None for
    any other fault."""
    parser = _parser(recover=True)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    return root if all(fault.type_name in _HARMLESS for fault in parser.error_log) else None


def _without_namespaces(element: Element) -> None:
    """Remove namespaces. Reading an element's attributes takes time proportional to the square of their number."""
    if len(element.attrib) > MOST_ATTRIBUTES:
        raise MalformedDocument(f"An XML element has {len(element.attrib)} attributes; the limit is {MOST_ATTRIBUTES}.")
    element.tag = _local(element.tag)
    for name, value in element.attrib.items():
        if name.startswith("{"):
            del element.attrib[name]
            if _local(name) not in element.attrib:
                element.set(_local(name), value)


def _local(name: str) -> str:
    return name.rpartition("}")[2].rpartition(":")[2]


Handler = Callable[[Element], str]


class XmlText:
    """Mixed content as text: white space folded, blocks as paragraphs; `handlers` convert single elements."""

    def __init__(self, blocks: frozenset[str], unseen: frozenset[str], handlers: dict[str, Handler]) -> None:
        self._blocks = blocks
        self._unseen = unseen
        self._handlers = handlers

    def paragraphs(self, element: Element) -> str:
        """The text of an element, with blank lines between its paragraphs."""
        return tidy(self.inner(element))

    def line(self, element: Element | None) -> str:
        """The text of an element, on one line."""
        return " ".join(tidy(self.inner(element)).split()) if element is not None else ""

    def tidy_pieces(self, elements: list[Element]) -> str:
        """The paragraphs of `elements`."""
        return tidy(_BREAK.join(self.piece(element) for element in elements))

    def inner(self, element: Element) -> str:
        pieces = [self.characters(element.text)]
        for child in element:
            pieces += [self.piece(child), self.characters(child.tail)]
        return "".join(pieces)

    def characters(self, text: str | None) -> str:
        return folded(text)

    def piece(self, element: Element) -> str:
        if element.tag is etree.Entity:
            return html5.get(f"{element.name};", "")
        if not isinstance(element.tag, str) or element.tag in self._unseen:
            return ""
        if handler := self._handlers.get(element.tag):
            return handler(element)
        if element.tag in self._blocks:
            return f"{_BREAK}{self.inner(element)}{_BREAK}"
        return self.inner(element)

    def raised(self, element: Element) -> str:
        return _RAISED + self.inner(element)


def folded(text: str | None) -> str:
    """A piece of character data with its white space reduced to single spaces."""
    return re.sub(r"\s+", " ", unmarked(text)).replace(_RAISED, "") if text else ""


def tidy(text: str) -> str:
    """Normalise joined pieces: paragraphs separated by one blank line, words by one space, powers as 10^6."""
    text = re.sub(rf"(?<=\d){_RAISED}(?=[-+\u2212\u2013]?\d)", "^", text).replace(_RAISED, "")
    paragraphs = (" ".join(paragraph.split()) for paragraph in past_spaces(text).split(_BREAK))
    return clean(_BREAK.join(paragraph for paragraph in paragraphs if paragraph))


def plain(element: Element | None) -> str:
    """All characters of an element on one line."""
    return " ".join(clean(unmarked(_characters(element))).split()) if element is not None else ""


def _characters(element: Element) -> str:
    if element.tag is etree.Entity:
        return html5.get(f"{element.name};", "")
    pieces = [element.text or ""]
    for child in element:
        pieces += [_characters(child), child.tail or ""]
    return "".join(pieces)


def words(element: Element | None) -> str:
    """Like `plain`, with a space between the elements (parts of an address)."""
    if element is None:
        return ""
    return " ".join(clean(unmarked(" ".join(element.itertext()))).split())


# Formulas inside XML: TeX without the document around it, MathML as characters on one line.
_LONGEST = 50_000
_BODY = re.compile(r"\\begin\{document\}(.*?)\\end\{document\}", re.DOTALL)
_DOLLARS = re.compile(r"(?s)\s*(\$\$?|\\\[|\\\()(?P<inner>.*?)(\$\$?|\\\]|\\\))\s*")
_ENVIRONMENT = re.compile(
    r"(?s)\s*\\begin\{(equation|displaymath|math|gather|align|eqnarray|multline)(\*?)\}"
    r"(?P<inner>.*)\\end\{\1\2\}\s*"
)


def tex_of(text: str) -> str:
    """The formula of a `tex-math` element, which often contains a whole document."""
    text = text[:_LONGEST]
    body = _BODY.search(text)
    inner = body[1] if body else text
    if match := _DOLLARS.fullmatch(inner) or _ENVIRONMENT.fullmatch(inner):
        inner = match["inner"]
    return " ".join(inner.replace("\\displaystyle", "").split())


def math_text(element: Element) -> str:
    """The characters of MathML in reading order: `x^2`, `x_i`, `(a)/(b)`, `sqrt(x)`."""
    return " ".join(_walk(element).split())


def _walk(element: Element) -> str:
    if not isinstance(element.tag, str) or element.tag in ("annotation", "annotation-xml"):
        return ""
    children = [child for child in element if isinstance(child.tag, str)]
    parts = [_walk(child) for child in children]
    match element.tag, len(parts):
        case "mi" | "mn" | "mtext" | "ms" | "ci" | "cn", _:
            return folded(element.text).strip() + "".join(parts)
        case "mo", _:
            sign = folded(element.text).strip()
            return f" {sign} " if re.fullmatch(r"[=<>+\u2212\u2208\u2264\u2265\u2248\u2192-]", sign) else sign
        case "mfrac", 2:
            return f"{_grouped(parts[0])}/{_grouped(parts[1])}"
        case "msup" | "mover", 2:
            return f"{parts[0]}^{_grouped(parts[1])}"
        case "msub" | "munder", 2:
            return f"{parts[0]}_{_grouped(parts[1])}"
        case "msubsup" | "munderover", 3:
            return f"{parts[0]}_{_grouped(parts[1])}^{_grouped(parts[2])}"
        case "msqrt", _:
            return f"sqrt({' '.join(''.join(parts).split())})"
        case "mspace", _:
            return " "
        case _:
            return "".join(parts)


def _grouped(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) == 1 or re.fullmatch(r"\d+", text) else f"({text})"


def _readable(element: Element) -> str:
    """A formula in a title as plain letters and signs, without TeX commands."""
    math = element if element.tag == "math" else element.find(".//math")
    if math is not None:
        return math_text(math)
    tex = element if element.tag == "tex-math" else element.find(".//tex-math")
    return plain_of_latex(tex_of(plain(tex))) if tex is not None else TITLE_TEXT.inner(element)


TITLE_TEXT = XmlText(
    frozenset({"break", "lb"}),
    frozenset({"fn", "xref", "note", "label"}),
    dict.fromkeys(("math", "tex-math", "alternatives", "inline-formula", "disp-formula"), _readable),
)
"""Reads titles without footnotes, cross-references, notes and labels; formulas become plain text."""


# Assembles JATS and TEI papers: tables, ranges of citations, and the last steps.
_RANGE = re.compile(r"\s*[\[(]?(\d{1,4})[\])]?\s*[\u2010-\u2015\u2212-]\s*[\[(]?")
_MOST_BETWEEN = 60
_MOST_COLUMNS = 200


def finish(paper: ParsedPaper, references: Sequence[Reference], language: str | None) -> ParsedPaper:
    """Complete a paper whose text has the citations of `references` marked."""
    places, _ = take_places(paper)
    order = {reference.ref_id: number for number, reference in enumerate(references)}
    paper.references = list(references)
    for section in paper.sections:
        lead = len(section.text) - len(section.text.lstrip())
        section.text = section.text.strip()
        known = [
            (min(max(position - lead, 0), len(section.text)), key)
            for position, key in places[id(section)]
            if key in order
        ]
        places[id(section)] = _with_ranges(known, section.text, order, references)
    complete(paper, [], language)
    attach(paper, references, places)
    if references and not paper.inline_citations:  # the source marks no citations, so the printed ones are linked
        text = [section for section in paper.sections if section.section_type != "references"]
        paper.inline_citations = link_citations(text, references)
        judge(paper)
    return paper


def _with_ranges(
    places: Places, text: str, order: dict[str, int], references: Sequence[Reference]
) -> list[tuple[int, str]]:
    """Add the references between the ends of a range: if the text has 3-6 and the source names only 3 and 6, the text
    also cites those between."""
    found: Places = []
    for number, (position, key) in enumerate(places):
        found.append((position, key))
        if number + 1 == len(places):
            break
        end, last = places[number + 1]
        between = range(order[key] + 1, order[last])
        if len(between) <= _MOST_BETWEEN and end - position < 20 and _RANGE.fullmatch(text, position, end):
            found += [(position, references[place].ref_id) for place in between]
    return found


def unique_ids(references: Sequence[Reference]) -> list[Reference]:
    """Each reference with a unique id: the source's, otherwise its number."""
    seen: set[str] = set()
    kept = []
    for number, reference in enumerate(references, 1):
        name = reference.ref_id
        while not name or name in seen:
            name = f"{reference.ref_id}-{number}" if reference.ref_id else str(number)
            if name in seen:
                number += len(references)
        seen.add(name)
        kept.append(reference.model_copy(update={"ref_id": name}))
    return kept


def read_table(heads: Sequence[Element], rows: Sequence[Element], cell_text: Callable[[Element], str]) -> Table:
    """A table of head and body rows; a cell over several columns or rows is repeated in each of them."""
    head, body = _grid(heads, cell_text), _grid(rows, cell_text)
    if not head and body and rows and all(cell.tag == "th" for cell in rows[0]):
        head, body = body[:1], body[1:]
    columns = max((len(row) for row in head), default=0)
    headers = [" ".join(dict.fromkeys(row[i] for row in head if i < len(row) and row[i])) for i in range(columns)]
    return Table(headers=headers, rows=body)


def _grid(rows: Sequence[Element], cell_text: Callable[[Element], str]) -> list[list[str]]:
    grid: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}
    for row in rows:
        cells: list[str] = []
        waiting, below = below, {}
        for cell in [*row, None]:
            while len(cells) in waiting:
                left, text = waiting.pop(len(cells))
                if left > 1:
                    below[len(cells)] = (left - 1, text)
                cells.append(text)
            if cell is None or not isinstance(cell.tag, str) or len(cells) >= _MOST_COLUMNS:
                continue
            text = cell_text(cell)
            for _ in range(_span(cell, "colspan", "cols")):
                if (deep := _span(cell, "rowspan", "rows")) > 1:
                    below[len(cells)] = (deep - 1, text)
                cells.append(text)
        grid.append(cells)
    return [row for row in grid if any(row)]


def _span(cell: Element, *names: str) -> int:
    value = next((cell.get(name) for name in names if cell.get(name)), "1")
    return min(int(value), 50) if value.isascii() and value.isdigit() and len(value) < 6 and int(value) else 1
