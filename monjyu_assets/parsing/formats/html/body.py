"""Reads the body of a page: finds the article, its sections, its abstract and its list of references."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from monjyu_assets.parsing.bibliography.dates import FIELD_YEAR
from monjyu_assets.parsing.formats.html.flow import HEADINGS, KEYWORDS, HtmlText, is_float
from monjyu_assets.parsing.formats.html.references import ReferenceList, entries_in, is_list, read_entries
from monjyu_assets.parsing.formats.html.tree import UNSEEN, names
from monjyu_assets.parsing.text.heading_types import section_type, strip_numbering
from monjyu_assets.parsing.xml.tree import Element, plain, tidy
from monjyu_core.paper import ParsedPaper, Section, SectionType

_LEVELS = {
    **dict.fromkeys(("part", "chapter", "section", "appendix", "bibliography", "acknowledgements", "abstract"), 1),
    **{"subsection": 2, "subsubsection": 3, "paragraph": 4, "subparagraph": 5},
}
"""Levels of LaTeXML's headings by their class; their tags depend on the class of the document."""
_TYPES: list[tuple[str, SectionType]] = [
    ("ltx_title_appendix", "appendix"),
    ("ltx_title_acknowledgements", "acknowledgments"),
    ("ltx_title_bibliography", "references"),
]
_ABSTRACT = re.compile(r"(?:[\w-]{0,20}[-_])?abstract\d?(?:[-_](?:content|text|section|body|group))?")
_NO_ABSTRACT = re.compile(
    r"graphical|teaser|toc|short|highlight|video|lay|plain|key-?points|no-?abstract|abstract-?link"
)
_MOST_LEVELS = 9
_LONGEST_HEADING = 120
_RUN_IN = ("ltx_title_theorem", "ltx_title_proof", "ltx_runin")
"""Headings that LaTeX sets in the line: "Theorem 1.", "Proof."."""
_BLOCKS = ("p", "div", "section", "ul", "ol", "dl", "table", "figure", "img", "math", *HEADINGS)
_ENTRY = re.compile(rf"(?<!\d){FIELD_YEAR.pattern}(?!\d)|^\s*(?:[\[(【]\s*\d{{1,3}}\s*[\])】]|\d{{1,3}}[.)．])|doi")
"""Matches an entry of a reference list: a year, a number in front, or a DOI."""


@dataclass
class Body:
    """The content of a page except the sections of its paper."""

    title: str = ""
    notes: str = ""
    references: ReferenceList = field(default_factory=ReferenceList)
    heading: str = "References"


def find_article(root: Element) -> Element:
    """Return the smallest element that is named as the main part and contains most of the page's text."""
    body = root.find("body")
    body = root if body is None else body
    sizes: dict[Element, int] = {}
    for element in reversed(list(body.iter())):
        size = sizes.get(element, 0) + len((element.text or "").strip()) if isinstance(element.tag, str) else 0
        sizes[element] = size
        above = element.getparent()
        if above is not None:
            sizes[above] = sizes.get(above, 0) + size + len((element.tail or "").strip())
    best = body
    for element in body.iter("article", "main", "div", "section"):
        if _is_main(element) and sizes[element] >= 0.6 * sizes[best]:
            best = element
    return best


def _is_main(element: Element) -> bool:
    if element.tag in ("article", "main") or (element.get("role") or "") in ("main", "article"):
        return True
    return any(name in ("ltx_document", "main-content", "article-body", "mw-parser-output") for name in names(element))


class BodyReader:
    """Walks the article and adds its sections, tables, figures and formulas to the paper."""

    def __init__(self, paper: ParsedPaper, article: Element) -> None:
        self.paper = paper
        self.body = Body()
        self._article = article
        self._special: dict[Element, str] = {}
        self._path: set[Element] = {article}
        self._plain = sum(1 for _ in article.iter(*HEADINGS)) < 2
        self._layout = _layout_tables(article)
        self._find()
        items = [item for element in self._lists() for item in entries_in(element)]
        self.body.references = read_entries(list(dict.fromkeys(items)))
        self._text = HtmlText(paper, self.body.references.anchors, self._layout)
        self._pieces: list[tuple[Section, list[str]]] = [(Section(heading=""), [])]
        self._abstracts = 0

    def read(self) -> Body:
        self._walk(self._article)
        sections = []
        for section, pieces in self._pieces:
            section.text = tidy("".join(pieces))
            if section.heading or section.text:
                sections.append(section)
        lowest = min((s.level for s in sections if s.heading and s.section_type in ("other", *_BODY)), default=1)
        for section in sections:
            section.level = max(1, min(section.level - lowest + 1, _MOST_LEVELS))
        self.paper.sections = sections
        return self.body

    def _find(self) -> None:
        """Find headings, abstracts, keywords and lists of references, and the elements that contain one."""
        waiting = [self._article]
        while waiting:
            element = waiting.pop()
            kind = self._kind(element) if element is not self._article else ""
            if kind == "closed":
                continue
            if kind:
                self._special[element] = kind
                for above in element.iterancestors():
                    if above in self._path:
                        break
                    self._path.add(above)
            else:
                waiting.extend(child for child in reversed(element) if isinstance(child.tag, str))

    def _kind(self, element: Element) -> str:
        tag = element.tag
        if any(name in _RUN_IN for name in names(element)):
            return "closed"
        if tag in HEADINGS or (element.get("role") or "") == "heading":
            return "heading"
        if tag in ("p", "div") and _is_bare_heading(element, bold=self._plain):
            return "heading"
        if tag in ("p", "math", "pre", "figure", UNSEEN) or (tag == "table" and element not in self._layout):
            return "closed"
        if tag in ("div", "section", "blockquote", "ul", "ol", "dl"):
            if is_float(element):
                return "closed"
            if is_list(element) and len(entries_in(element)) > 0:
                return "references"
            if any(map(KEYWORDS.fullmatch, names(element))):
                return "keywords"
            if any(map(_ABSTRACT.fullmatch, names(element))) or (element.get("role") or "") == "doc-abstract":
                return "abstract"
        return ""

    def _lists(self) -> Iterator[Element]:
        """Yield the lists that are named as references, otherwise the entries and lists after a heading for
        references."""
        named = [element for element, kind in self._special.items() if kind == "references"]
        if named:
            yield from named
            return
        below = 0
        for element in self._article.iter():
            kind = self._special.get(element)
            if kind == "heading":
                level = _level(element) or 1
                if not below or level <= below:
                    below = level if section_type(plain(element)[:300]) == "references" else 0
            elif below and self._is_listed(element):
                self._special[element] = "references"
                self._path.update(element.iterancestors())
                yield element

    def _is_listed(self, element: Element) -> bool:
        """Whether the element is a list, or a paragraph that looks like an entry, and is not in another list."""
        if element.tag in ("ol", "ul", "dl"):
            return element.getparent().tag not in ("li", "dd")
        if element.tag not in ("p", "div") or next(element.iterdescendants(*_BLOCKS), None) is not None:
            return False
        if any(above in self._special or above.tag in ("li", "table") for above in element.iterancestors()):
            return False
        return _ENTRY.search(plain(element)[:3000]) is not None

    def _walk(self, element: Element) -> None:
        self._add(self._text.characters(element.text))
        for child in element:
            if not isinstance(child.tag, str):
                self._add(self._text.piece(child))
            elif kind := self._special.get(child):
                self._take(child, kind)
            elif child in self._path:
                self._add("\n\n")
                self._walk(child)
                self._add("\n\n")
            else:
                self._add(self._text.piece(child))
            self._add(self._text.characters(child.tail))

    def _add(self, piece: str) -> None:
        self._pieces[-1][1].append(piece)

    def _take(self, element: Element, kind: str) -> None:
        if kind == "heading":
            self._heading(element)
            return
        front = self._text.in_front and kind == "keywords"
        self._text.in_front = False
        if kind == "abstract":
            self._abstract(element)
        elif kind == "keywords":
            self._text.keywords(element)
        else:
            self._references(element)
        self._text.in_front = front

    def _heading(self, element: Element) -> None:
        text = self._text.heading(element).strip(" ¶#§")
        if not text:
            return
        level = _level(element)
        found = next((kind for name, kind in _TYPES if name in names(element)), None) or section_type(text)
        first = not self.body.title and len(self._pieces) == 1 and found in ("other", "methods")
        if level == 0 or (first and element.tag == "h1") or (text.casefold() == self.paper.title.casefold()):
            self.body.title = self.body.title or text
            self.body.notes += self._text.take_notes()
            return
        self._text.in_front = False
        if found == "references":
            self.body.heading = text
        self._pieces.append((Section(heading=text, level=max(1, level), section_type=found), []))

    def _abstract(self, element: Element) -> None:
        """Add an abstract as one section, with the headings of its parts run in. Graphical, lay and similar abstracts
        become ordinary sections."""
        other = any(_NO_ABSTRACT.search(name) for name in names(element))
        headings = [(heading, self._text.heading(heading)) for heading in element.iter(*HEADINGS)]
        named = next((pair for pair in headings if section_type(pair[1]) == "abstract"), (None, "Abstract"))
        if other or (self._abstracts and not named[0]):
            named = headings[0] if headings else (None, "Summary")
        text = self._text.abstract(element, named[0])
        if not text:
            return
        kind: SectionType = "other" if other else "abstract"
        self._abstracts += not other
        level = min((_level(h) for h in self._special if self._special[h] == "heading" and _level(h)), default=1)
        section = Section(heading=named[1], level=level, section_type=kind)
        self._pieces += [(section, [text]), (Section(heading=""), [])]

    def _references(self, element: Element) -> None:
        """Begin a section for the text around the list, which is read separately; a heading inside the list names the
        section."""
        heading = next(element.iter(*HEADINGS), None)
        if heading is not None and (text := self._text.heading(heading)):
            self.body.heading = text
        last = self._pieces[-1][0]
        if last.heading and section_type(last.heading) == "references":
            self.body.heading = last.heading
        self._pieces.append((Section(heading="", section_type="references"), []))  # takes what surrounds the list


_BODY = ("introduction", "related_work", "methods", "experiments", "results", "discussion", "conclusion")


def _level(element: Element) -> int:
    """The level of a heading, from 1; 0 for the title of the document."""
    for name in names(element):
        if name == "ltx_title_document":
            return 0
        if name.startswith("ltx_title_") and name.removeprefix("ltx_title_") in _LEVELS:
            return _LEVELS[name.removeprefix("ltx_title_")]
    if element.tag not in HEADINGS and (number := strip_numbering(plain(element)[:300])[0]):
        return 2 + number.count(".")
    given = element.get("aria-level") or element.tag[1:]
    within = _sections_around(element) if element.tag == "h1" else 0
    return min(int(given) + within, 9) if given.isascii() and given.isdigit() and len(given) < 3 else 2


def _sections_around(element: Element) -> int:
    """The number of sections around the one that an h1 begins whose own heading is an h1 as well: there the nesting
    gives the level."""
    around = list(islice(element.iterancestors("section"), _MOST_LEVELS + 1))[1:]
    return sum(next(section.iter(*HEADINGS), element).tag == "h1" for section in around)


def _is_bare_heading(element: Element, *, bold: bool) -> bool:
    """Whether a paragraph is nothing but the heading of the references or, on a page without headings, a bold line with
    the name or the number of a section."""
    if (
        len(element) > 3
        or len(element.text or "") > _LONGEST_HEADING
        or next(element.iterdescendants(*_BLOCKS), None) is not None
    ):
        return False
    text = plain(element)
    if not 0 < len(text) <= _LONGEST_HEADING or text[-1] in ".!?。；;,":
        return False
    kind = section_type(text)
    if kind == "references":
        return True
    heavy = "".join(
        plain(inner) for inner in element.iter("b", "strong") if inner.getparent().tag not in ("b", "strong")
    )
    known = kind != "other" or strip_numbering(text)[0] is not None
    return bold and known and len(heavy.replace(" ", "")) >= 0.8 * len(text.replace(" ", ""))


def _layout_tables(article: Element) -> set[Element]:
    """Tables that contain headings or other tables, and so only lay out the page."""
    found: set[Element] = {table for table in article.iter("table") if (table.get("role") or "") == "presentation"}
    for element in article.iter(*HEADINGS, "table", "article", "main"):
        for above in element.iterancestors("table"):
            if above in found:
                break
            found.add(above)
    return found
