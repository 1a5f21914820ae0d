"""XML files: which kind of paper one holds, by its root."""

from __future__ import annotations

from monjyu_assets.parsing.xml.xml_tree import Element, read_tree
from monjyu_core.errors import EmptyDocument, MalformedDocument, UnsupportedDocument
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings

_PARTS = ("front", "body", "back", "front-stub")
"""What a JATS article has, and an article of DocBook has not."""


def parse_xml(data: bytes, settings: ParseSettings) -> ParsedPaper:
    """Parse JATS or GROBID's TEI. Raises UnsupportedDocument for any other XML, MalformedDocument, DocumentTooLarge."""
    if not data.strip():
        raise EmptyDocument("The file is empty.")
    root = read_tree(data, settings)
    try:
        article = _article(root)
        if article is not None:
            from monjyu_assets.parsing.formats.jats.jats import parse_jats

            return parse_jats(article)
        if root.tag == "TEI":
            from monjyu_assets.parsing.formats.tei.tei import parse_tei

            return parse_tei(root)
    except RecursionError:
        raise MalformedDocument("The XML is nested too deeply.") from None
    raise UnsupportedDocument(f"This XML is a <{root.tag[:50]}>.", "Papers are read from JATS (<article>) and TEI.")


def _article(root: Element) -> Element | None:
    """The JATS article: the root, or the only one inside an answer of an archive (OAI-PMH, PubMed Central)."""
    found = [root] if root.tag == "article" else list(root.iter("article")) if root.tag != "TEI" else []
    articles = [article for article in found if any(article.find(part) is not None for part in _PARTS)]
    if len(articles) > 1:
        raise UnsupportedDocument(f"The file holds {len(articles)} articles.", "Give each a file of its own.")
    return articles[0] if articles else None
