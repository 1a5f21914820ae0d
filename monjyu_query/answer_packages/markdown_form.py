"""An answer as Markdown: marks are footnotes, so that readers of Markdown number and link them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from monjyu_query.answer_packages.document import Document, Paragraph, Source
from monjyu_query.asking.result import AnswerTable

_MARKUP = re.compile(r"([\\`*_\[\]<>|~&$])")
_AT_START = re.compile(r"^(\s*)([#+\-=]|\d+[.)])")


def as_markdown(document: Document) -> str:
    """Nothing that a paper says is markup."""
    parts = [f"# {plain(document.title)}", *(f"> {plain(note)}" for note in document.notes)]
    parts += [_paragraph(paragraph) for paragraph in document.paragraphs]
    parts += ["\n".join(_table(table)) for table in document.tables]
    if document.papers:
        listed = [f"- {plain(text)}{f' <{address}>' if address else ''}" for text, address in document.papers]
        parts += [f"## {document.words['papers']}", "\n".join(listed)]
    parts += [f"## {document.words['about']}", "\n".join(f"- {plain(line)}" for line in document.about)]
    parts += [_source(one) for one in document.sources]  # last: readers list footnotes at the end
    return "\n\n".join(parts) + "\n"


def plain(text: str) -> str:
    """The text with what Markdown would take for markup escaped."""
    return _AT_START.sub(lambda found: f"{found[1]}\\{found[2]}", _MARKUP.sub(r"\\\1", text))


def _paragraph(paragraph: Paragraph) -> str:
    words = ""
    for run in paragraph.runs:
        body = plain(run.text.strip()) if not words else _inside(run.text)
        lead = " " if words and run.text.startswith(" ") else ""
        words += lead + (f"**{body.strip()}**" if run.bold else body if not lead else body.lstrip())
        words += "".join(f"[^{n}]" for n in run.marks)
    before = "### " if paragraph.heading else "- " if paragraph.item else ""
    return before + words


def _inside(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text)


def _source(source: Source) -> str:
    mark = " **(retracted)**" if source.retracted else ""
    address = f" <{source.address}>" if source.address else ""
    return f"[^{source.n}]: {plain(source.title)}{source.where}{mark}: “{_inside(source.quote)}”{address}"


def _table(table: AnswerTable) -> Iterator[str]:
    if table.title:
        yield from (f"**{plain(table.title)}**", "")
    yield "| " + " | ".join(map(_inside, table.columns)) + " |"
    yield "| " + " | ".join("---" for _ in table.columns) + " |"
    for row in table.rows:
        cells = (_inside(cell.text) + "".join(f"[^{n}]" for n in cell.citations) for cell in row)
        yield "| " + " | ".join(cells) + " |"
