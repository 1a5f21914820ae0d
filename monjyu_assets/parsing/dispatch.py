"""One document to a parsed paper, by its type. Runs inside a parser process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monjyu_core.errors import (
    DocumentError,
    DocumentTooLarge,
    DuplicatePaperId,
    EmptyDocument,
    MalformedDocument,
    UnsupportedDocument,
)
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParserSettings, ParseSettings

PARSER_VERSION = "4"
"""Raised when any parser gives other results: it is in every paper's reuse key."""


def parse_document(task: dict[str, Any], settings: ParseSettings) -> ParsedPaper:
    """Parse what a task names: `path`, `document_type` and, for a record of a JSONL file, `offset` and `size`.

    `beside` names files of a Markdown or LaTeX paper that its kept copy does not hold already. An XML file's
    `document_type` is that of the paper in it.
    """
    document_type = task["document_type"]
    if document_type == "duplicate":
        raise DuplicatePaperId("Another record has the same id.", "Give each record an id of its own.")
    if document_type == "unreadable":
        raise MalformedDocument("The file cannot be read.", "Check its permissions.")
    path = Path(task["path"])
    size = task["size"] if document_type == "jsonl" else path.stat().st_size
    if size > settings.max_file_mb * 2**20:
        raise DocumentTooLarge(
            f"The document has {size / 2**20:.0f} MiB; the limit is {settings.max_file_mb}.", "See parse.max_file_mb."
        )
    if size == 0:
        raise EmptyDocument("The file is empty.", "Replace it.")
    paper = (
        _record(path, task)
        if document_type == "jsonl"
        else _file(path, document_type, settings, task.get("beside", ()))
    )
    if document_type != "xml":
        paper.document_type = document_type
    _check_text(paper, settings)
    return paper


def _file(path: Path, document_type: str, settings: ParseSettings, beside: Sequence[str]) -> ParsedPaper:
    """Each parser is imported only where it is needed: a process that reads PDFs carries nothing of the others."""
    match document_type:
        case "pdf":
            return _pdf(path, settings)
        case "docx":
            from monjyu_assets.parsing.formats.word.docx import parse_docx

            return parse_docx(path, settings)
        case "pptx":
            from monjyu_assets.parsing.formats.slides.pptx import parse_pptx

            return parse_pptx(path, settings)
        case "md":
            from monjyu_assets.parsing.bibliography.companions import read_paper
            from monjyu_assets.parsing.formats.markdown.markdown import parse_markdown

            data, bibliographies = read_paper(path, beside)
            return parse_markdown(data, settings, bibliographies)
        case "latex":
            from monjyu_assets.parsing.bibliography.companions import read_paper
            from monjyu_assets.parsing.formats.latex.parse_latex import parse_latex

            data, files = read_paper(path, beside)
            return parse_latex(data, settings, files)
        case "xml":
            from monjyu_assets.parsing.xml.xml_file import parse_xml

            return parse_xml(path.read_bytes(), settings)
        case "html":
            from monjyu_assets.parsing.formats.html.html_paper import parse_html

            return parse_html(path.read_bytes(), settings)
        case "txt":
            from monjyu_assets.parsing.formats.text.plaintext import parse_text

            return parse_text(path.read_bytes(), settings)
    raise UnsupportedDocument(f"No parser for {document_type!r}.")


def _pdf(path: Path, settings: ParseSettings) -> ParsedPaper:
    more = settings if isinstance(settings, ParserSettings) else ParserSettings(**settings.model_dump())
    if more.pdf.processor == "unstructured":
        from monjyu_assets.parsing.formats.pdf.unstructured_pdf import parse_with_unstructured

        return parse_with_unstructured(path, more)
    from monjyu_assets.parsing.formats.pdf import parse_pdf

    return parse_pdf(path, settings, more.ocr)


def _record(path: Path, task: dict[str, Any]) -> ParsedPaper:
    from monjyu_assets.parsing.formats.jsonl.jsonl import MAX_LINE_BYTES, decode_record, parse_record

    with path.open("rb") as file:
        file.seek(task["offset"])
        line = file.read(min(task["size"], MAX_LINE_BYTES))
    try:
        if task["size"] > MAX_LINE_BYTES:
            raise DocumentTooLarge(f"more than {MAX_LINE_BYTES // 2**20} MiB.", "Split the document or shorten it.")
        return parse_record(decode_record(line))
    except DocumentError as error:
        raise type(error)(f"Line {task['record']}: {error.message}", error.hint) from None


def _check_text(paper: ParsedPaper, settings: ParseSettings) -> None:
    characters = sum(len(section.text) for section in paper.sections)
    if characters > settings.max_characters:
        raise DocumentTooLarge(
            f"The document has {characters} characters; the limit is {settings.max_characters}.",
            "See parse.max_characters.",
        )
