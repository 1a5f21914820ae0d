"""An answer in the form that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from monjyu_query.answer_packages.asked_answer import AskedAnswer
from monjyu_query.answer_packages.cited_evidence import bibliography
from monjyu_query.answer_packages.forms.document import document_of
from monjyu_query.citations.citation_export import Entry, bibtex

KINDS: Mapping[str, tuple[str, str]] = {
    "ro-crate": ("application/zip", "zip"),
    "markdown": ("text/markdown; charset=utf-8", "md"),
    "docx": ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    "pdf": ("application/pdf", "pdf"),
    "bibtex": ("application/x-bibtex", "bib"),
}
"""Media type and ending by format."""


def written(asked: AskedAnswer, form: str) -> bytes:
    """The file of a format of `KINDS` that is a document."""
    papers = bibliography(asked.index.snapshot, asked.result)
    return _WRITERS[form](asked, papers)


def _markdown(asked: AskedAnswer, papers: list[Entry]) -> bytes:
    from monjyu_query.answer_packages.forms.markdown_form import as_markdown

    return as_markdown(document_of(asked, papers)).encode("utf-8", "replace")


def _docx(asked: AskedAnswer, papers: list[Entry]) -> bytes:
    from monjyu_query.answer_packages.forms.word_form import as_docx

    return as_docx(document_of(asked, papers))


def _pdf(asked: AskedAnswer, papers: list[Entry]) -> bytes:
    from monjyu_query.answer_packages.forms.pdf_form import as_pdf

    return as_pdf(document_of(asked, papers))


def _bibtex(asked: AskedAnswer, papers: list[Entry]) -> bytes:
    """A note on top says what is left out; BibTeX takes what stands outside of entries for a comment."""
    from monjyu_query.answer_packages.forms.document import notes_of

    notes = "".join(f"% {note.replace('@', '(at)')}\n" for note in notes_of(asked))
    return (notes + bibtex(papers)).encode("utf-8", "replace")


_WRITERS: dict[str, Callable[[AskedAnswer, list[Entry]], bytes]] = {
    "markdown": _markdown,
    "docx": _docx,
    "pdf": _pdf,
    "bibtex": _bibtex,
}
