"""XML of papers: the tree, read safely, and what the readers of JATS and TEI share.

No DTD is loaded, no entity but characters' names is resolved, nothing is fetched, and libxml2's own bounds on depth and
size stay on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html.entities import html5
from typing import Any

from lxml import etree

from monjyu_assets.parsing.text.decoding import clean
from monjyu_assets.parsing.text.text_marks import past_spaces, unmarked
from monjyu_core.errors import DocumentTooLarge, MalformedDocument
from monjyu_core.settings.papers import ParseSettings

Element = Any
"""An lxml element; its tag and attributes are without namespaces."""

MOST_ATTRIBUTES = 1000
_HARMLESS = {"DTD_XMLID_VALUE", "DTD_ID_REDEFINED", "NS_ERR_UNDEFINED_NAMESPACE", "NS_ERR_QNAME"}
_BREAK = "\n\n"
_RAISED = "\x1e"


def read_tree(data: bytes, settings: ParseSettings) -> Element:
    """The root element. Raises MalformedDocument (no XML, or with entities of its own) or DocumentTooLarge."""
    if len(data) > 4 * settings.max_characters:
        raise DocumentTooLarge(f"{len(data)} bytes of XML.", "Raise parse.max_characters.")
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


def _parser(**more: Any) -> Any:
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
    """The root of XML whose only faults are names: an id that begins with a digit, a prefix that nothing declares.
    None where anything else is wrong."""
    parser = _parser(recover=True)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    return root if all(fault.type_name in _HARMLESS for fault in parser.error_log) else None


def _without_namespaces(element: Element) -> None:
    """Reading an element's attributes takes time in proportion to the square of their number."""
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
    """Mixed content as text: white space folded, blocks as paragraphs; `handlers` say what an element becomes."""

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
        """The paragraphs of these elements."""
        return tidy(_BREAK.join(self.piece(element) for element in elements))

    def inner(self, element: Element) -> str:
        pieces = [folded(element.text)]
        for child in element:
            pieces += [self.piece(child), folded(child.tail)]
        return "".join(pieces)

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
    """A piece of character data with its white space as single spaces."""
    return re.sub(r"\s+", " ", unmarked(text)).replace(_RAISED, "") if text else ""


def tidy(text: str) -> str:
    """Pieces joined: paragraphs separated by one blank line, one space between words, powers as 10^6."""
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
    """As `plain`, with a space between the elements (parts of an address)."""
    if element is None:
        return ""
    return " ".join(clean(unmarked(" ".join(element.itertext()))).split())
