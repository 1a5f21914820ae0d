"""Parses one document into a paper, by its type. Runs inside a parser process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from monjyu_core.errors import (
    DocumentError,
    DocumentTooLarge,
    DuplicatePaperId,
    EmptyDocument,
    MalformedDocument,
    ScannedDocument,
    UnsupportedDocument,
)
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.papers import ParserSettings, ParseSettings
from monjyu_core.values import Values

if TYPE_CHECKING:
    from monjyu_assets.parsing.xml.tree import Element

PARSER_VERSION = "17"
"""Part of every paper's reuse key. Raise it when the results of any parser change."""

_PARTS_OF_JATS = ("front", "body", "back", "front-stub")
"""The elements that distinguish a JATS article from a DocBook article."""


def parse_document(task: Values, settings: ParseSettings) -> ParsedPaper:
    """Parse the document of a task: `path`, `document_type` and, for a record of a JSONL file, `offset` and `size`.
    `analysis` is a service's analysis of the file, which is read instead. `beside` lists files of a Markdown or LaTeX
    paper that are not in its stored copy. `no_ocr` is the reason why pages that need OCR are not read. An XML file's
    `document_type` is that of the paper in it.
    """
    document_type = task["document_type"]
    if document_type == "duplicate":
        raise DuplicatePaperId("Another record has the same id.", "Give each record a unique id.")
    if document_type == "unreadable":
        raise MalformedDocument("The file cannot be read.", "Check its permissions.")
    path = Path(task["path"])
    size = task["size"] if document_type == "jsonl" else path.stat().st_size
    if size > settings.max_file_mb * 2**20:
        raise DocumentTooLarge(
            f"The document has {size / 2**20:.0f} MiB; the limit is {settings.max_file_mb}.",
            "Raise parse.max_file_mb to read it.",
        )
    if size == 0:
        raise EmptyDocument("The file is empty.", "Replace it.")
    if task.get("analysis"):
        from monjyu_assets.parsing.formats.pdf.analysed_paper import parse_analysis

        paper = parse_analysis(Path(task["analysis"]), document_type, settings)
        if document_type == "pdf":
            _check_pages(path, paper, settings)
        _check_text(paper, settings)
        return paper
    paper = _record(path, task) if document_type == "jsonl" else _file(path, document_type, settings, task)
    if document_type != "xml":
        paper.document_type = document_type
    _check_text(paper, settings)
    return paper


def _check_pages(path: Path, paper: ParsedPaper, settings: ParseSettings) -> None:
    """Warn if a service has read fewer pages than the file has, as free tiers do; raise MalformedDocument if
    `pdf.require_all_pages` is set."""
    from monjyu_assets.parsing.formats.pdf.reading import count_pages

    there = count_pages(path)
    if paper.page_count >= there:
        return
    told = f"The service read {paper.page_count} of {there} pages."
    if isinstance(settings, ParserSettings) and settings.pdf.require_all_pages:
        raise MalformedDocument(told, "Use a tier that reads whole files, or unset pdf.require_all_pages.")
    paper.warnings.append(f"{told} The text of the others is not indexed: free tiers read only two pages.")


def _file(path: Path, document_type: str, settings: ParseSettings, task: Values) -> ParsedPaper:
    """Parse a file. Each parser is imported only when needed: a process that parses PDFs loads no other parser."""
    beside = task.get("beside", ())
    match document_type:
        case "pdf":
            return _pdf(path, settings, task.get("no_ocr", ""))
        case "docx":
            from monjyu_assets.parsing.formats.word.paper import parse_docx

            return parse_docx(path, settings)
        case "pptx":
            from monjyu_assets.parsing.formats.slides import parse_pptx

            return parse_pptx(path, settings)
        case "doc" | "ppt":
            from monjyu_assets.parsing.office.older_formats import NEWER, converted

            with converted(path, document_type, settings) as newer:
                return _file(newer, NEWER[document_type], settings, task)
        case "md":
            from monjyu_assets.parsing.bibliography.companions import read_paper
            from monjyu_assets.parsing.formats.markdown.paper import parse_markdown

            data, bibliographies = read_paper(path, beside)
            return parse_markdown(data, settings, bibliographies)
        case "latex":
            from monjyu_assets.parsing.archive_members import read_archive
            from monjyu_assets.parsing.bibliography.companions import read_paper
            from monjyu_assets.parsing.formats.latex.paper import parse_latex

            data, files = read_archive(path, settings) or read_paper(path, beside)
            return parse_latex(data, settings, files)
        case "xml":
            return parse_xml(path.read_bytes(), settings)
        case "html":
            from monjyu_assets.parsing.formats.html.paper import parse_html

            return parse_html(path.read_bytes(), settings)
        case "txt":
            from monjyu_assets.parsing.formats.plaintext import parse_text

            return parse_text(path.read_bytes(), settings)
        case "image":
            raise ScannedDocument("Only Document Intelligence reads pictures.", "See docs/azure.md.")
    raise UnsupportedDocument(f"No parser for {document_type!r}.")


def _pdf(path: Path, settings: ParseSettings, no_ocr: str) -> ParsedPaper:
    more = settings if isinstance(settings, ParserSettings) else ParserSettings(**settings.model_dump())
    if more.pdf.processor == "unstructured":
        from monjyu_assets.parsing.formats.pdf.unstructured_pdf import parse_with_unstructured

        return parse_with_unstructured(path, more)
    from monjyu_assets.parsing.formats.pdf import parse_pdf

    return parse_pdf(path, settings, more.ocr, no_ocr)


def parse_xml(data: bytes, settings: ParseSettings) -> ParsedPaper:
    """Parse JATS or GROBID's TEI. Raises UnsupportedDocument for any other XML, EmptyDocument, MalformedDocument or
    DocumentTooLarge."""
    from monjyu_assets.parsing.xml.tree import read_tree

    if not data.strip():
        raise EmptyDocument("The file is empty.")
    root = read_tree(data, settings)
    try:
        article = _jats_article(root)
        if article is not None:
            from monjyu_assets.parsing.formats.jats.paper import parse_jats

            return parse_jats(article)
        if root.tag == "TEI":
            from monjyu_assets.parsing.formats.tei import parse_tei

            return parse_tei(root)
    except RecursionError:
        raise MalformedDocument("The XML is nested too deeply.") from None
    raise UnsupportedDocument(f"This XML is a <{root.tag[:50]}>.", "Papers are read from JATS (<article>) and TEI.")


def _jats_article(root: Element) -> Element | None:
    """The JATS article: the root, or the only one inside an archive's response (OAI-PMH, PubMed Central)."""
    found = [root] if root.tag == "article" else list(root.iter("article")) if root.tag != "TEI" else []
    articles = [article for article in found if any(article.find(part) is not None for part in _PARTS_OF_JATS)]
    if len(articles) > 1:
        raise UnsupportedDocument(f"The file contains {len(articles)} articles.", "Save each as a separate file.")
    return articles[0] if articles else None


def _record(path: Path, task: Values) -> ParsedPaper:
    from monjyu_assets.parsing.formats.jsonl import parse_record
    from monjyu_assets.parsing.text.jsonl_records import MAX_LINE_BYTES, decode_record

    with path.open("rb") as file:
        file.seek(task["offset"])
        line = file.read(min(task["size"], MAX_LINE_BYTES))
    try:
        if task["size"] > MAX_LINE_BYTES:
            raise DocumentTooLarge(
                f"The record has more than {MAX_LINE_BYTES // 2**20} MiB.", "Split the document or shorten it."
            )
        return parse_record(decode_record(line))
    except DocumentError as error:
        raise type(error)(f"Line {task['record']}: {error.message}", error.hint) from None


def _check_text(paper: ParsedPaper, settings: ParseSettings) -> None:
    characters = sum(len(section.text) for section in paper.sections)
    if characters > settings.max_characters:
        raise DocumentTooLarge(
            f"The document has {characters} characters; the limit is {settings.max_characters}.",
            "Raise parse.max_characters to read it.",
        )
