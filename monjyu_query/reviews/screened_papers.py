"""What a screening knows of each paper before it reads it, and the hash of all that it may read."""

from __future__ import annotations

from dataclasses import dataclass

from monjyu_query.ranking.open_index import OpenIndex

_PAPERS = """SELECT p.paper_id, p.sha256, p.title, p.year, p.language, p.document_type, p.is_academic_paper,
  coalesce((SELECT list_sort(list(DISTINCT s.section_type)) FROM sections s WHERE s.paper_id = p.paper_id), []),
  md5(concat_ws(chr(31), p.title, p.abstract, p.year, p.language, p.document_type, p.is_academic_paper, t.text))
FROM papers p JOIN paper_identity i ON i.paper_id = p.paper_id AND i.canonical_id = p.paper_id
LEFT JOIN (SELECT paper_id, md5(string_agg(md5(concat_ws(chr(31), section_ord, text, spans::VARCHAR)), '' ORDER BY ord))
  AS text FROM sentences GROUP BY paper_id) t ON t.paper_id = p.paper_id
ORDER BY p.paper_id"""


@dataclass(frozen=True)
class ScreenedPaper:
    """`key` changes with anything that a decision may rest on: text, places, what is known of the paper, a notice that
    it is retracted. The same file parsed in the same way has the same key in every collection."""

    paper_id: str
    sha256: str
    title: str
    year: int | None
    language: str
    document_type: str
    is_paper: bool
    sections: frozenset[str]
    retracted: bool
    key: str


def screened_papers(index: OpenIndex) -> list[ScreenedPaper]:
    """Those that are screened: one file for each paper that could be read, by id."""
    found = []
    for paper_id, sha256, title, year, language, kind, is_paper, sections, read in (
        index.snapshot.cursor().execute(_PAPERS).fetchall()
    ):
        gone = paper_id in index.retracted
        key = f"{read}r" if gone else read
        found.append(
            ScreenedPaper(paper_id, sha256, title or "", year, language, kind, is_paper, frozenset(sections), gone, key)
        )
    return found
