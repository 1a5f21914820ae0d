"""A digest as it is given: parts of statements, each with the numbers of its citations."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from monjyu_query.answers.segments import escaped, laid_out, markdown
from monjyu_query.search.result import Citation, Status, Usage

Engine = Literal["extractive", "llm"]


class Statement(BaseModel):
    """One sentence of a digest and the citations that it rests on: at least one."""

    text: str
    citations: list[int] = Field(min_length=1)


class Part(BaseModel):
    """Statements under a heading; `paper_id` where all of them are of one paper. `engine` says what wrote them."""

    heading: str
    paper_id: str | None = None
    engine: Engine = "extractive"
    statements: list[Statement]


class DigestPaper(BaseModel):
    paper_id: str
    title: str
    authors: list[str] = []
    year: int | None = None


class CitationLink(BaseModel):
    """One paper of the digest cites another; `contexts` are the sentences that do."""

    citing_id: str
    cited_id: str
    contexts: list[str] = []


class Digest(BaseModel):
    """`status` is abstained, with no parts, where the papers hold too little; `verified`: each quote was found in its
    source. `links` are the citations among the papers of the digest."""

    kind: Literal["summary", "comparison", "survey"]
    subject: str
    collection: str
    snapshot_id: str
    status: Status
    verified: bool
    papers: list[DigestPaper]
    parts: list[Part]
    citations: list[Citation]
    links: list[CitationLink] = []
    warnings: list[str] = []
    usage: Usage = Usage()

    def text(self) -> str:
        """As Markdown: the parts with [n] marks, then the sources; the papers' own brackets are escaped."""
        titles = {paper.paper_id: escaped(paper.title or paper.paper_id) for paper in self.papers}
        lines = [f"# {escaped(self.subject)}", *(f"Note: {warning}" for warning in self.warnings)]
        for part in self.parts:
            of = titles.get(part.paper_id or "", "") if self.kind != "summary" else ""
            lines.append(f"## {escaped(part.heading)}{': ' if part.heading and of else ''}{of}")
            lines.append(markdown(laid_out([(s.text, s.citations, "") for s in part.statements], None)))
        if not self.parts:
            lines.append("The papers hold too little on this.")
        lines += [f"- {titles[one.citing_id]} cites {titles[one.cited_id]}." for one in self.links]
        return "\n\n".join([*lines, "\n".join(map(source_line, self.citations))]).strip()


def source_line(citation: Citation) -> str:
    """`[1] Title, page 3 (paper-id)`."""
    page = f", page {citation.page}" if citation.page else ""
    return f"[{citation.n}] {escaped(citation.paper_title or citation.paper_id)}{page} ({citation.paper_id})"
