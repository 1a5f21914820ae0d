"""The formats in which an answer can be exported."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from monjyu_query.answer_packages.asked_answer import AskedAnswer
from monjyu_query.answer_packages.document import Document, Paragraph, Run, as_markdown, document_of, notes_of
from monjyu_query.answer_packages.package import bibliography, package_of
from monjyu_query.answer_packages.package_files import as_zip
from monjyu_query.asking.fields import ExportForm
from monjyu_query.asking.result import AnswerTable
from monjyu_query.citations.export import Entry, bibtex, xml_text

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from docx.text.paragraph import Paragraph as WordParagraph


# An answer as a Word document: citation marks link to the sources below, and sources to the papers' addresses.
_LONG_AGO = datetime(1980, 1, 1, tzinfo=UTC)
_FAR_EAST = "MS Mincho"
_BLUE = "1F4E9E"


def as_docx(document: Document) -> bytes:
    """Return the document as DOCX. Equal documents produce equal bytes."""
    import docx

    word = docx.Document()
    _set_up(word, document)
    word.add_heading(xml_text(document.title), 0)
    for note in document.notes:
        word.add_paragraph(xml_text(note), style="Intense Quote")
    for paragraph in document.paragraphs:
        _add_paragraph(word, paragraph)
    for table in document.tables:
        _add_table(word, table)
    _add_sources(word, document)
    if document.papers:
        word.add_heading(document.words["papers"], 1)
    for text, address in document.papers:
        entry = word.add_paragraph(xml_text(text) + (" " if address else ""), style="List Bullet")
        _link(entry, address)
    word.add_heading(document.words["about"], 1)
    for line in document.about:
        word.add_paragraph(xml_text(line), style="List Bullet")
    written = io.BytesIO()
    word.save(written)
    return _timeless(written.getvalue())


def _set_up(word: WordDocument, document: Document) -> None:
    from docx.oxml.ns import qn

    fonts = word.styles["Normal"].element.get_or_add_rPr().get_or_add_rFonts()
    fonts.set(qn("w:eastAsia"), _FAR_EAST)
    about = word.core_properties
    about.title, about.author, about.comments = xml_text(document.title)[:255], "Monjyu", ""
    about.created = about.modified = _LONG_AGO
    foot = word.sections[0].footer.paragraphs[0]
    foot.alignment = 1
    for kind, text in (("begin", None), (None, "PAGE"), ("end", None)):
        run = foot.add_run()
        run._r.append(_element("w:fldChar", {"w:fldCharType": kind}) if kind else _element("w:instrText", {}, text))


def _element(name: str, values: dict[str, str | None], text: str | None = None) -> Any:
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    element: Any = OxmlElement(name)
    for key, value in values.items():
        element.set(qn(key), value)
    if text is not None:
        element.text = text
    return element


def _add_paragraph(word: WordDocument, paragraph: Paragraph) -> None:
    if paragraph.heading:
        added = word.add_heading(level=2)
    else:
        added = word.add_paragraph(style="List Bullet" if paragraph.item else None)
    for run in paragraph.runs:
        _add_run(added, run)


def _add_run(added: WordParagraph, run: Run) -> None:
    if run.text:
        added.add_run(xml_text(run.text)).bold = run.bold or None
    for mark in run.marks:
        _link(added, None, anchor=f"source{mark}", text=f" [{mark}]")


def _link(paragraph: WordParagraph, address: str | None, anchor: str | None = None, text: str | None = None) -> None:
    """Add a link to an address, or to a bookmark; nothing if there is neither."""
    from docx.opc.constants import RELATIONSHIP_TYPE

    if not address and not anchor:
        return
    if address:
        place = {"r:id": paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)}
    else:
        place = {"w:anchor": anchor or ""}
    link = _element("w:hyperlink", dict(place))
    run = paragraph.add_run(text or address)
    properties = run._r.get_or_add_rPr()
    properties.append(_element("w:color", {"w:val": _BLUE}))
    link.append(run._r)
    paragraph._p.append(link)


def _add_sources(word: WordDocument, document: Document) -> None:
    if document.sources:
        word.add_heading(document.words["sources"], 1)
    for source in document.sources:
        added = word.add_paragraph()
        mark = {"w:id": str(source.n)}
        added._p.append(_element("w:bookmarkStart", {**mark, "w:name": f"source{source.n}"}))
        added.add_run(f"[{source.n}]").bold = True
        added._p.append(_element("w:bookmarkEnd", dict(mark)))
        added.add_run(f" {xml_text(source.title)}{source.where}")
        if source.retracted:
            added.add_run(" (retracted)").bold = True
        added.add_run(": “")
        added.add_run(xml_text(source.quote)).italic = True
        added.add_run("”" + (" " if source.address else ""))
        _link(added, source.address)


def _add_table(word: WordDocument, table: AnswerTable) -> None:
    if table.title:
        word.add_paragraph().add_run(xml_text(table.title)).bold = True
    added = word.add_table(rows=1, cols=len(table.columns), style="Table Grid")
    for cell, name in zip(added.rows[0].cells, table.columns, strict=True):
        cell.paragraphs[0].add_run(xml_text(name)).bold = True
    for row in table.rows:
        for cell, told in zip(added.add_row().cells, row, strict=True):
            _add_run(cell.paragraphs[0], Run(told.text, marks=tuple(told.citations)))
    word.add_paragraph()


def _timeless(content: bytes) -> bytes:
    """Return the archive with the same fixed time for all its files."""
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(zipfile.ZipInfo(entry.filename, (1980, 1, 1, 0, 0, 0)), old.read(entry), zipfile.ZIP_DEFLATED)
    return written.getvalue()


def written(asked: AskedAnswer, form: str) -> bytes:
    """Return the answer as a file in the format `FORMS[form]`."""
    return FORMS[form].write(asked, bibliography(asked.index.snapshot, asked.result))


def _pdf(asked: AskedAnswer, papers: list[Entry]) -> bytes:
    from monjyu_query.answer_packages.pdf_form import as_pdf

    return as_pdf(document_of(asked, papers))


def _bibtex(asked: AskedAnswer, papers: list[Entry]) -> bytes:
    """Return the papers as BibTeX, which ignores the notes above the first entry."""
    notes = "".join(f"% {note.replace('@', '(at)')}\n" for note in notes_of(asked))
    return (notes + bibtex(papers)).encode("utf-8", "replace")


_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
FORMS = {
    "ro-crate": ExportForm(
        lambda asked, papers: as_zip(package_of(asked)), "application/zip", "zip", "RO-Crate", is_text=False
    ),
    "markdown": ExportForm(
        lambda asked, papers: as_markdown(document_of(asked, papers)).encode("utf-8", "replace"),
        *("text/markdown; charset=utf-8", "md", "Markdown"),
    ),
    "docx": ExportForm(lambda asked, papers: as_docx(document_of(asked, papers)), _WORD, "docx", "Word", is_text=False),
    "pdf": ExportForm(_pdf, "application/pdf", "pdf", "PDF", is_text=False),
    "bibtex": ExportForm(_bibtex, "application/x-bibtex", "bib", "BibTeX"),
}
