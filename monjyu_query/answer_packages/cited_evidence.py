"""The cited sentences of an answer with their places and hashes, and the papers that they stand in."""

from __future__ import annotations

import json
from typing import Any

from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.answer_packages.canonical import text_sha256
from monjyu_query.answer_packages.licences import licences_of
from monjyu_query.asking.result import SearchResult
from monjyu_query.citations.citation_export import Entry, entries_of

_SENTENCES = """SELECT sentence_id, text, spans FROM sentences
WHERE sentence_id IN (SELECT unnest($ids::VARCHAR[]))"""
_PAPERS = """SELECT paper_id, sha256, document_type, coalesce(title, ''), page_count FROM papers
WHERE paper_id IN (SELECT unnest($ids::VARCHAR[])) ORDER BY paper_id"""


def cited_papers(result: SearchResult) -> list[str]:
    """Their ids, in the order in which they are cited."""
    return list(dict.fromkeys(citation.paper_id for citation in result.citations))


def bibliography(snapshot: Snapshot, result: SearchResult) -> list[Entry]:
    """The cited papers as bibliographic entries; files of one paper are one."""
    return entries_of(snapshot, cited_papers(result))


def evidence_of(snapshot: Snapshot, result: SearchResult) -> dict[str, Any]:
    """`citations`: number, paper, page, quote and its hash, each sentence with its text, hash and rectangles.
    `papers`: the hash of the file, its kind, title and licence (null: not known)."""
    papers = cited_papers(result)
    cursor = snapshot.cursor_of(papers)
    ids = [name for citation in result.citations for name in citation.sentence_ids]
    rows = {row[0]: row[1:] for row in cursor.execute(_SENTENCES, {"ids": ids}).fetchall()}
    licences = licences_of(cursor, papers)
    return {
        "citations": [
            {
                "n": citation.n,
                "paper_id": citation.paper_id,
                "page": citation.page,
                "quote": citation.quote,
                "quote_sha256": text_sha256(citation.quote),
                "retracted": citation.retracted,
                "sentences": [_sentence(name, *rows[name]) for name in citation.sentence_ids if name in rows],
            }
            for citation in result.citations
        ],
        "papers": [
            {
                "paper_id": paper_id,
                "file_sha256": sha256,
                "document_type": kind,
                "title": title,
                "pages": pages,
                "licence": licences.get(paper_id),
            }
            for paper_id, sha256, kind, title, pages in cursor.execute(_PAPERS, {"ids": papers}).fetchall()
        ],
    }


def _sentence(sentence_id: str, text: str, spans: Any) -> dict[str, Any]:
    """`spans`: pages (from 1) with rectangles in PDF points from the top left, as in a citation."""
    places = [
        {"page": span["page"], "boxes": [[round(float(edge), 2) for edge in box] for box in span["boxes"]]}
        for span in (json.loads(spans) if isinstance(spans, str) else spans or ())
    ]
    return {"sentence_id": sentence_id, "text": text, "text_sha256": text_sha256(text), "spans": places}
