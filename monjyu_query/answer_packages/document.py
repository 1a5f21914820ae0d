"""An answer as a printable document: paragraphs with marks, tables, numbered sources, a list of the papers."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from monjyu_core.errors import counted
from monjyu_core.language.packs import Texts
from monjyu_core.text.language import message_language
from monjyu_core.text.search_text import count_wide
from monjyu_query.answer_packages.asked_answer import AskedAnswer
from monjyu_query.answers.render import safe, safe_lines
from monjyu_query.answers.segments import pieces
from monjyu_query.asking.result import AnswerTable, Cell, Citation
from monjyu_query.citations.export import Entry

_BREAK = re.compile(r"\n\s*\n|\n(?=- )|\n")
MOST_AUTHORS = 8


@dataclass(frozen=True)
class Run:
    """Words in one style; `marks` are the numbers of their sources."""

    text: str
    bold: bool = False
    marks: tuple[int, ...] = ()


@dataclass
class Paragraph:
    runs: list[Run] = field(default_factory=list)
    heading: bool = False
    item: bool = False


@dataclass(frozen=True)
class Source:
    """A quote with its number, and its paper's title (after the first author and year), page and address."""

    n: int
    title: str
    where: str
    """The page as printed after the title, such as `, page 3`; empty if the source has no page."""
    quote: str
    address: str | None
    retracted: bool


@dataclass(frozen=True)
class Document:
    """An answer as a document to print. `words` are its headings, in the language of the question."""

    title: str
    notes: list[str]
    paragraphs: list[Paragraph]
    tables: list[AnswerTable]
    sources: list[Source]
    papers: list[tuple[str, str | None]]
    about: list[str]
    words: Mapping[str, str]


def document_of(asked: AskedAnswer, papers: Sequence[Entry]) -> Document:
    """Return the document of an answer, without control characters and characters that reverse text."""
    result = asked.result
    words = Texts("document")[message_language(result.query)]
    by_id = {paper.id: paper for paper in papers}
    return Document(
        title=safe(result.query),
        notes=notes_of(asked),
        paragraphs=_paragraphs(asked),
        tables=[_safe_table(table) for table in result.tables],
        sources=[_source(citation, by_id.get(citation.paper_id), words) for citation in result.citations],
        papers=[(reference(paper), address_of(paper)) for paper in papers],
        about=_about(asked, words),
        words=words,
    )


def _paragraphs(asked: AskedAnswer) -> list[Paragraph]:
    found = [Paragraph()]
    segments = asked.result.segments
    for piece, segment in zip(pieces(segments, safe_lines), segments, strict=True):
        if piece.heading or found[-1].heading or "\n" in piece.lead:
            found.append(Paragraph(heading=piece.heading, item=piece.lead.lstrip().startswith("-")))
        lead = "" if not found[-1].runs or "\n" in piece.lead else " "
        if piece.label:
            found[-1].runs.append(Run(lead + piece.label, bold=True))
            lead = ""
        first, *rest = _BREAK.split(piece.text)
        found[-1].runs.append(Run(lead + first))
        for line in rest:
            item = line.startswith("- ")
            found.append(Paragraph([Run(line.removeprefix("- "))], item=item))
        if segment.citations:
            found[-1].runs.append(Run("", marks=tuple(segment.citations)))
    return [paragraph for paragraph in found if any(run.text.strip() or run.marks for run in paragraph.runs)]


def _safe_table(table: AnswerTable) -> AnswerTable:
    rows = [[Cell(text=safe(cell.text), citations=cell.citations) for cell in row] for row in table.rows]
    return AnswerTable(title=safe(table.title), columns=[safe(name) for name in table.columns], rows=rows)


def _source(citation: Citation, paper: Entry | None, words: Mapping[str, str]) -> Source:
    title = safe(citation.paper_title) or safe(citation.paper_id)
    if paper is not None:
        who = _who(paper.authors, 1)
        title = ". ".join(filter(None, (f"{who} ({paper.year})" if who and paper.year else who, title)))
    return Source(
        citation.n,
        title,
        f", {words['page'].format(citation.page)}" if citation.page else "",
        safe(citation.quote),
        address_of(paper) if paper is not None else None,
        citation.retracted,
    )


def reference(paper: Entry) -> str:
    """Return the reference to a paper in the form `Authors (year). Title. Venue.`"""
    parts = [_who(paper.authors, MOST_AUTHORS), paper.title or paper.id, paper.venue or ""]
    if paper.year:
        parts[0] = f"{parts[0]} ({paper.year})".lstrip()
    return " ".join(part if part[-1] in ".?!。" or count_wide(part[-1]) else f"{part}." for part in parts if part)


def _who(authors: Sequence[str], most: int) -> str:
    return ", ".join(authors[:most]) + (" et al." if len(authors) > most else "")


def address_of(paper: Entry) -> str | None:
    """The address of a paper's DOI or arXiv id, escaped; None if it has neither."""
    if paper.doi:
        return f"https://doi.org/{quote(paper.doi, safe='/')}"
    return f"https://arxiv.org/abs/{quote(paper.arxiv_id, safe='/')}" if paper.arxiv_id else None


def notes_of(asked: AskedAnswer) -> list[str]:
    notes = [safe(warning) for warning in asked.result.warnings]
    if asked.index.snapshot.id != asked.asked_of:
        notes.append(
            f"Snapshot {asked.asked_of}, which answered this question, no longer exists. The current one "
            f"({asked.index.snapshot.id}) was asked instead" + (", and its answer differs." if asked.differs else ".")
        )
    elif asked.differs:
        notes.append(f"Asked again, the answer differs from that of the recorded search ({', '.join(asked.differs)}).")
    return [*notes, *_left_out(asked)]


def _left_out(asked: AskedAnswer) -> Iterable[str]:
    """Yield notes on omitted quotes, without the ids of purged papers."""
    purged = {one.paper_id: None for one in asked.left_out if one.why == "purged"}
    gone = {one.paper_id: None for one in asked.left_out if one.why != "purged"}
    if purged:
        yield f"The quotes of {counted(len(purged), 'purged paper')} are omitted."
    if gone:
        yield f"Quotes that have changed or disappeared are omitted. They are from: {', '.join(map(safe, gone))}."


def _about(asked: AskedAnswer, words: Mapping[str, str]) -> list[str]:
    result, manifest = asked.result, asked.index.snapshot.manifest
    engine = words["model"].format(safe(result.model)) if result.model else words["quotes"]
    sure = words["sure"].format(result.confidence) if result.confidence is not None else ""
    return [
        words["of"].format(result.collection, manifest.snapshot_id, manifest.level, result.mode),
        words["made"].format(result.status, engine) + sure,
        words["asked"].format(asked.asked_at or words["unknown"], asked.trace_id),
    ]


# An answer as Markdown: citation marks are footnotes, which Markdown programs number and link.
_MARKUP = re.compile(r"([\\`*_\[\]<>|~&$])")
_AT_START = re.compile(r"^(\s*)([#+\-=]|\d+[.)])")


def as_markdown(document: Document) -> str:
    """The document in Markdown, with the papers' own markup escaped."""
    parts = [f"# {plain(document.title)}", *(f"> {plain(note)}" for note in document.notes)]
    parts += [_paragraph(paragraph) for paragraph in document.paragraphs]
    parts += ["\n".join(_table(table)) for table in document.tables]
    if document.papers:
        listed = [f"- {plain(text)}{f' <{address}>' if address else ''}" for text, address in document.papers]
        parts += [f"## {document.words['papers']}", "\n".join(listed)]
    parts += [f"## {document.words['about']}", "\n".join(f"- {plain(line)}" for line in document.about)]
    parts += [_markdown_source(one) for one in document.sources]  # last: readers list footnotes at the end
    return "\n\n".join(parts) + "\n"


def plain(text: str) -> str:
    """The text with Markdown's markup characters escaped."""
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


def _markdown_source(source: Source) -> str:
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
