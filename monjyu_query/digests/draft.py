"""A digest under way: sentences are noted under headings, looked up in their sources, and numbered at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from monjyu_query.answers.citing import cite
from monjyu_query.answers.segments import plain
from monjyu_query.digests.digest_result import CitationLink, Digest, DigestPaper, Engine, Part, Statement
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import PassageSentence
from monjyu_query.search.result import Citation, SearchResult, Segment, Status, Usage

Kind = Literal["summary", "comparison", "survey"]


@dataclass
class Written:
    """A part before its citations are numbered: statements, each with its citations."""

    heading: str
    paper_id: str | None
    engine: Engine
    statements: list[tuple[str, list[Citation]]] = field(default_factory=list)


class Draft:
    """Parts of one digest over one snapshot. A part without a statement is left out."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index
        self._parts: list[Written] = []
        self.warnings: list[str] = []
        self.usage = Usage()

    def quote(self, heading: str, paper_id: str | None, sentences: Sequence[PassageSentence]) -> None:
        """Sentences of papers, word by word; those that do not stand in their source are left out."""
        self.cited(heading, paper_id, cite(self._index.snapshot.cursor(), sentences))

    def cited(self, heading: str, paper_id: str | None, citations: Iterable[Citation]) -> None:
        """Quotes that were looked up already."""
        statements = [(" ".join(citation.quote.split()), [citation]) for citation in citations]
        self._parts.append(Written(heading, paper_id, "extractive", statements))

    def written(self, heading: str, events: Iterable[dict[str, Any]]) -> None:
        """A model's sentences as the answer writer told of them, put first; one without a source is left out."""
        part = Written(heading, None, "llm")
        for event in events:
            if event["event"] == "answer" and event["citations"]:
                citations = [Citation.model_validate(one) for one in event["citations"]]
                said = plain(Segment.model_validate(one) for one in event["segments"])
                part.statements.append((said.strip(), citations))
        self._parts.insert(0, part)

    def add_usage(self, used: Usage) -> None:
        """Numbers add up, seconds too."""
        for name in Usage.model_fields:
            setattr(self.usage, name, getattr(self.usage, name) + getattr(used, name))

    def overview(self, heading: str, result: SearchResult, events: Iterable[dict[str, Any]]) -> None:
        """The answer of a search as a part."""
        if result.answer_engine == "llm":
            self.written(heading, events)
        else:
            self.cited(heading, None, result.citations)

    def finish(self, kind: Kind, subject: str, papers: Sequence[str], *, partial: bool = False) -> Digest:
        """The digest; abstained where no part has a statement."""
        numbers: dict[tuple[str, ...], Citation] = {}
        parts = [_numbered(part, numbers) for part in self._parts if part.statements]
        status: Status = "abstained" if not parts else "partial" if partial else "complete"
        return Digest(
            kind=kind,
            subject=subject,
            collection=self._index.snapshot.manifest.collection,
            snapshot_id=self._index.snapshot.id,
            status=status,
            verified=bool(parts),
            papers=papers_of(self._index, papers),
            parts=parts,
            citations=list(numbers.values()),
            links=links_among(self._index, papers) if kind != "summary" else [],
            warnings=list(dict.fromkeys(self.warnings)),
            usage=self.usage,
        )


def _numbered(part: Written, numbers: dict[tuple[str, ...], Citation]) -> Part:
    """One sentence of a paper has one number in all the digest."""
    statements = []
    for text, citations in part.statements:
        own = []
        for citation in citations:
            key = tuple(citation.sentence_ids)
            numbers.setdefault(key, citation.model_copy(update={"n": len(numbers) + 1}))
            own.append(numbers[key].n)
        statements.append(Statement(text=text, citations=list(dict.fromkeys(own))))
    return Part(heading=part.heading, paper_id=part.paper_id, engine=part.engine, statements=statements)


def papers_of(index: OpenIndex, paper_ids: Sequence[str]) -> list[DigestPaper]:
    """Titles, authors and years, in the order given."""
    cursor, found = index.snapshot.cursor(), []
    for paper_id in paper_ids:
        row = cursor.execute("SELECT title, year FROM papers WHERE paper_id = ?", [paper_id]).fetchone()
        names = cursor.execute("SELECT name FROM authors WHERE paper_id = ? ORDER BY ord", [paper_id]).fetchall()
        title, year = row or ("", None)
        found.append(DigestPaper(paper_id=paper_id, title=title or "", authors=[name for (name,) in names], year=year))
    return found


_LINKS = """SELECT a.paper_id, b.paper_id, e.contexts FROM citation_edges e
JOIN paper_identity a ON a.canonical_id = e.citing_id JOIN paper_identity b ON b.canonical_id = e.cited_id
WHERE list_contains($papers, a.paper_id) AND list_contains($papers, b.paper_id) ORDER BY ALL"""


def links_among(index: OpenIndex, paper_ids: Sequence[str]) -> list[CitationLink]:
    """Which of the papers cite which, with the sentences that do."""
    rows = index.snapshot.cursor().execute(_LINKS, {"papers": list(paper_ids)}).fetchall()
    return [
        CitationLink(citing_id=citing, cited_id=cited, contexts=[one["context"] for one in contexts or []])
        for citing, cited, contexts in rows
    ]
