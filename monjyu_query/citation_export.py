"""The citation network as GraphML; papers and their references as BibTeX or RIS."""

from __future__ import annotations

import io
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from monjyu_core.snapshot import Snapshot
from monjyu_query.citation_view import canonical_id
from monjyu_query.xml_safe import xml_text

_PAPERS = """
SELECT p.paper_id, p.title, list(a.name ORDER BY a.ord) FILTER (a.name IS NOT NULL), p.year, p.venue, p.doi, p.arxiv_id
FROM papers p JOIN paper_identity i ON i.paper_id = p.paper_id AND i.canonical_id = p.paper_id
LEFT JOIN authors a ON a.paper_id = p.paper_id GROUP BY ALL ORDER BY p.paper_id
"""
_REFERENCES = """
SELECT ref_id, coalesce(title, raw_text), authors, year, venue, doi, arxiv_id
FROM "references" WHERE paper_id = ? ORDER BY ord
"""


@dataclass(frozen=True)
class Entry:
    """One bibliographic entry: a paper of the collection, or a reference of one."""

    title: str
    authors: list[str]
    year: int | None
    venue: str | None
    doi: str | None
    arxiv_id: str | None


def graphml(snapshot: Snapshot) -> str:
    """Papers as nodes (title, year, doi), citations as edges (method, score, mentions)."""
    import networkx

    graph = networkx.DiGraph()
    cursor = snapshot.cursor()
    for paper_id, title, _, year, _, doi, _ in cursor.execute(_PAPERS).fetchall():
        values = {"title": xml_text(title), "year": year, "doi": doi and xml_text(doi)}
        graph.add_node(xml_text(paper_id), **{name: value for name, value in values.items() if value is not None})
    edges = "SELECT citing_id, cited_id, method, score, len(contexts) FROM citation_edges ORDER BY ALL"
    for citing, cited, method, score, mentions in cursor.execute(edges).fetchall():
        graph.add_edge(xml_text(citing), xml_text(cited), method=method, score=float(score), mentions=mentions)
    buffer = io.BytesIO()
    networkx.write_graphml(graph, buffer)
    return buffer.getvalue().decode("utf-8")


def entries(snapshot: Snapshot, paper_id: str | None) -> list[Entry]:
    """The references of a paper, or without one the papers of the collection."""
    cursor = snapshot.cursor()
    if paper_id is None:
        rows = cursor.execute(_PAPERS).fetchall()
    else:
        canonical_id(cursor, paper_id)  # says clearly that there is no such paper
        rows = cursor.execute(_REFERENCES, [paper_id]).fetchall()
    return [Entry(" ".join((row[1] or "").split()), list(row[2] or []), *row[3:]) for row in rows]


def bibtex(found: list[Entry]) -> str:
    """BibTeX in ASCII (LaTeX commands for other letters), keys of first author and year."""
    from bibtexparser.entrypoint import write_string
    from bibtexparser.library import Library
    from bibtexparser.middlewares import LatexEncodingMiddleware
    from bibtexparser.model import Entry as BibEntry
    from bibtexparser.model import Field

    library = Library()
    for key, entry in zip(_keys(found), found, strict=True):
        fields = {
            "title": entry.title,
            "author": " and ".join(entry.authors),
            "year": str(entry.year or ""),
            "journal": entry.venue or "",
            "doi": entry.doi or "",
            "eprint": entry.arxiv_id or "",
            "archiveprefix": "arXiv" if entry.arxiv_id else "",
        }
        kept = [Field(name, value) for name, value in fields.items() if value]
        library.add(BibEntry("article" if entry.venue else "misc", key, kept))
    encode = LatexEncodingMiddleware(keep_math=True, enclose_urls=False)
    return write_string(library, prepend_middleware=[encode])


def ris(found: list[Entry]) -> str:
    import rispy
    from rispy.writer import RisWriter

    class Writer(RisWriter):  # type: ignore[misc]
        """Without the numbers that rispy writes between records; the format has none."""

        def set_header(self, count: int) -> str:
            return ""

    records = [
        {
            "type_of_reference": "JOUR" if entry.venue else "GEN",
            "title": entry.title,
            "authors": entry.authors,
            "year": str(entry.year) if entry.year else None,
            "journal_name": entry.venue,
            "doi": entry.doi,
            "urls": [f"https://arxiv.org/abs/{entry.arxiv_id}"] if entry.arxiv_id else None,
        }
        for entry in found
    ]
    text: str = rispy.dumps(
        [{name: value for name, value in record.items() if value} for record in records], implementation=Writer
    )
    return text


def _keys(found: list[Entry]) -> list[str]:
    """`smith2020`, and `smith2020b` for the next of the same name and year."""
    seen: Counter[str] = Counter()
    keys = []
    for entry in found:
        name = entry.authors[0].split()[-1] if entry.authors and entry.authors[0].split() else "unknown"
        letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        base = (re.sub(r"[^a-z]", "", letters) or "unknown") + str(entry.year or "")
        seen[base] += 1
        keys.append(base if seen[base] == 1 else f"{base}-{seen[base]}")
    return keys
