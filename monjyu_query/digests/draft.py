"""A digest in progress: quotes are collected under headings and in tables, checked in their sources and numbered."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from monjyu_core.models.account import Account
from monjyu_core.settings.settings import Settings
from monjyu_core.text.language import as_message_language
from monjyu_core.values import Values
from monjyu_query.answers.citing import Window, cite_windows
from monjyu_query.answers.layout import displayed_text, said
from monjyu_query.answers.segments import plain
from monjyu_query.asking.events import Emit
from monjyu_query.asking.passages import Passage
from monjyu_query.asking.request import SearchRequest, make_request
from monjyu_query.asking.result import AnswerTable, Cell, Citation, SearchResult, Segment, Status, Usage
from monjyu_query.digests.result import CitationLink, Digest, DigestPaper, Engine, Language, Part, Statement
from monjyu_query.papers.labels import labels_of, named_papers, paper_labels
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.tools import Tools


# A protocol, because the searcher itself answers with digests.
class Asker(Protocol):
    """The interface of `monjyu_query.search.searcher.Searcher` that digests use."""

    collection: str
    settings: Settings
    tools: Tools

    def current(self) -> OpenIndex:
        """The published snapshot, open."""
        ...

    def search(
        self, request: SearchRequest, emit: Emit | None = None, cancel: threading.Event | None = None
    ) -> SearchResult:
        """Return the result of a question."""
        ...

    def account(self, index: OpenIndex) -> Account:
        """The account for calls outside a search."""
        ...


NOTHING = "–"
"""Shown in a table's cell if a paper says nothing."""


class Said(NamedTuple):
    """A statement with its citations, not numbered yet; `value` is the part that a column asks for."""

    text: str
    citations: list[Citation]
    value: str = ""


Kind = Literal["summary", "comparison", "survey", "table"]


@dataclass
class Written:
    """A part before its citations are numbered: statements, each with its citations."""

    heading: str
    paper_id: str | None
    engine: Engine
    statements: list[Said] = field(default_factory=list)


@dataclass
class WrittenTable:
    """A table before its citations are numbered: each cell contains text, or statements of papers."""

    columns: list[str]
    rows: list[list[Cell | list[Said]]]
    engine: Engine


class Draft:
    """Parts and tables of one digest over one snapshot. Parts without statements are omitted."""

    def __init__(self, index: OpenIndex, language: str = "en") -> None:
        self._index = index
        self._parts: list[Written] = []
        self._tables: list[WrittenTable] = []
        self.language: Language = as_message_language(language)
        self.shared_terms: list[str] = []
        self.warnings: list[str] = []
        self.usage = Usage()

    def quoted(self, windows: Sequence[Window]) -> list[Said]:
        """The windows as verbatim quotes; those that are not in their source are omitted."""
        [found] = self.quoted_each([windows])
        return found

    def quoted_each(self, groups: Sequence[Sequence[Window]]) -> list[list[Said]]:
        """Like `quoted` for several groups; their sources are read together."""
        every = [window for windows in groups for window in windows]
        cited = cite_windows(self._index.snapshot.cursor(), every) if every else []
        found = {id(window): Said(said(window), [citation]) for window, citation in cited}
        return [[found[id(window)] for window in windows if id(window) in found] for windows in groups]

    def quote(self, heading: str, paper_id: str | None, windows: Sequence[Window]) -> None:
        """Add quotes as a part."""
        self.add(heading, paper_id, self.quoted(windows))

    def add(self, heading: str, paper_id: str | None, statements: Iterable[Said]) -> None:
        self._parts.append(Written(heading, paper_id, "extractive", list(statements)))

    def labels(self, papers: Sequence[str]) -> list[str]:
        """Unambiguous short names of the papers."""
        found = paper_labels(self._index, papers, self.language)
        return [found[paper_id] for paper_id in papers]

    def table(
        self, columns: Sequence[str], rows: Sequence[Sequence[Cell | list[Said]]], engine: Engine = "extractive"
    ) -> None:
        """Add a table, whose cells are numbered after the parts. A table without rows is omitted."""
        if rows:
            self._tables.append(WrittenTable(list(columns), [list(row) for row in rows], engine))

    def written(self, heading: str, events: Iterable[Values]) -> None:
        """Insert a model's sentences, from the events of the answer, as the first part, without uncited ones."""
        part = Written(heading, None, "llm")
        for event in events:
            if event["event"] == "answer" and event["citations"]:
                citations = [Citation.model_validate(one) for one in event["citations"]]
                text = plain(Segment.model_validate(one) for one in event["segments"])
                part.statements.append(Said(text.strip(), citations))
        self._parts.insert(0, part)

    def add_usage(self, used: Usage) -> None:
        """Add up the numbers, including seconds."""
        for name in Usage.model_fields:
            setattr(self.usage, name, getattr(self.usage, name) + getattr(used, name))

    def finish(self, kind: Kind, subject: str, papers: Sequence[str], *, partial: bool = False) -> Digest:
        """The digest. It abstains if nothing is stated, unless it is `partial`: truncated, or a call failed."""
        numbers: dict[tuple[str, ...], Citation] = {}
        parts = [_numbered(part, numbers) for part in self._parts if part.statements]
        tables = [_numbered_table(table, numbers) for table in self._tables]
        status: Status = "partial" if partial else "complete" if numbers else "abstained"
        return Digest(
            kind=kind,
            subject=subject,
            language=self.language,
            collection=self._index.snapshot.manifest.collection,
            snapshot_id=self._index.snapshot.id,
            status=status,
            verified=bool(numbers),
            papers=papers_of(self._index, papers, self.language),
            parts=parts,
            tables=tables,
            citations=list(numbers.values()),
            links=links_among(self._index, papers) if kind in ("comparison", "survey") else [],
            shared_terms=self.shared_terms,
            warnings=list(dict.fromkeys(self.warnings)),
            usage=self.usage,
        )


def _numbered(part: Written, numbers: dict[tuple[str, ...], Citation]) -> Part:
    """The part with numbered citations: one quote of a paper has the same number in the whole digest."""
    statements = [Statement(text=one.text, citations=_numbers(one.citations, numbers)) for one in part.statements]
    return Part(heading=part.heading, paper_id=part.paper_id, engine=part.engine, statements=statements)


def _numbered_table(table: WrittenTable, numbers: dict[tuple[str, ...], Citation]) -> AnswerTable:
    rows = [[cell if isinstance(cell, Cell) else _cell(cell, numbers) for cell in row] for row in table.rows]
    return AnswerTable(columns=table.columns, rows=rows, engine=table.engine)


def _cell(statements: Sequence[Said], numbers: dict[tuple[str, ...], Citation]) -> Cell:
    if not statements:
        return Cell(text=NOTHING)
    cited = [n for one in statements for n in _numbers(one.citations, numbers)]
    text, value = " ".join(one.text for one in statements), statements[0].value
    paper_id = statements[0].citations[0].paper_id
    return Cell(text=text, citations=list(dict.fromkeys(cited)), paper_id=paper_id, value=value or None)


def _numbers(citations: Iterable[Citation], numbers: dict[tuple[str, ...], Citation]) -> list[int]:
    found = []
    for citation in citations:
        key = tuple(citation.sentence_ids)
        numbers.setdefault(key, citation.model_copy(update={"n": len(numbers) + 1}))
        found.append(numbers[key].n)
    return list(dict.fromkeys(found))


def as_quoted(citations: Iterable[Citation]) -> list[Said]:
    """The quotes of checked citations as statements, without words that would join them to unquoted sentences."""
    return [Said(displayed_text(citation.quote), [citation]) for citation in citations]


def papers_of(index: OpenIndex, paper_ids: Sequence[str], language: str) -> list[DigestPaper]:
    """Titles, labels, authors and years, in the given order."""
    papers = named_papers(index, paper_ids)
    labels = labels_of(papers, language)
    return [DigestPaper(paper_id=name, label=labels[name], **papers[name]._asdict()) for name in paper_ids]


_LINKS = """SELECT a.paper_id, b.paper_id, e.contexts FROM citation_edges e
JOIN paper_identity a ON a.canonical_id = e.citing_id JOIN paper_identity b ON b.canonical_id = e.cited_id
WHERE list_contains($papers, a.paper_id) AND list_contains($papers, b.paper_id) ORDER BY ALL"""


def links_among(index: OpenIndex, paper_ids: Sequence[str]) -> list[CitationLink]:
    """The citations among the papers, with the citing sentences."""
    rows = index.snapshot.cursor().execute(_LINKS, {"papers": list(paper_ids)}).fetchall()
    return [
        CitationLink(citing_id=citing, cited_id=cited, contexts=[one["context"] for one in contexts or []])
        for citing, cited, contexts in rows
    ]


# Text that a model writes from chosen passages, each sentence checked against them; empty without a model.
MOST_PASSAGES = 24


def write_part(
    searcher: Asker, index: OpenIndex, draft: Draft, heading: str, task: str, passages: Sequence[Passage]
) -> bool:
    """Add a part that the model of the role `answer` writes on `task` from the passages. Return False if the model
    failed; without a model or passages, add nothing and return True."""
    if not searcher.tools.uses_model("answer") or not passages:
        return True
    from monjyu_query.answers.model.answer import answer_with_model

    request = make_request(query=task, collection=searcher.collection)
    account = searcher.account(index)
    asked = index.keywords.query_terms(task)
    events: list[Values] = []
    some = list(passages)[:MOST_PASSAGES]
    written, failure = answer_with_model(searcher.tools, index, request, some, asked, account, events.append)
    draft.add_usage(Usage(**vars(account.used)))
    if written is None:
        draft.warnings.append(failure)
        return False
    draft.warnings += written.warnings
    draft.written(heading, events)
    return True
