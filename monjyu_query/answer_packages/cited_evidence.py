"""The cited sentences of an answer with their places and hashes, and the papers that they stand in."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import duckdb

from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.answer_packages.package_files import text_sha256
from monjyu_query.asking.result import SearchResult
from monjyu_query.citations.export import Entry, entries_of

# Under which licence a paper is, where its own text says so of itself.
# Papers speak of the licences of programs and courses far more often than of their own. So a sentence counts only
# where its subject is the paper; of all others the licence is not known, and nothing is guessed.


_OF_ITSELF = re.compile(
    r"\bthis (?:is an open[- ]access )?(?:article|paper|work|manuscript|chapter|preprint|publication)\b"
    r"[^.]{0,120}\b(?:licen[sc]ed|licen[sc]e|distributed|published|released|available)\b"
    r"|\bauthors? of papers? retain copyright and release the work under\b"
    r"|\bopen access article (?:distributed )?under\b",
    re.IGNORECASE,
)
_NAMES = {"attribution": "BY", "noncommercial": "NC", "sharealike": "SA", "noderivatives": "ND", "noderivs": "ND"}
_CODE = re.compile(r"\bCC[- ]?(BY(?:[- ](?:NC|SA|ND))*)(?:[- ]?(\d\.\d))?", re.IGNORECASE)
_WORDS = re.compile(
    r"\bcreative commons (attribution(?:[- ](?:non[- ]?commercial|share[- ]?alike|no[- ]?deriv(?:ative)?s))*)"
    r"[^.\d]{0,30}(\d\.\d)?",
    re.IGNORECASE,
)
_ZERO = re.compile(r"\bCC0\b|\bpublic domain dedication\b", re.IGNORECASE)
_LICENCES_SENTENCES = """SELECT paper_id, text FROM sentences WHERE paper_id IN (SELECT unnest($ids::VARCHAR[]))
AND regexp_matches(text, '(?i)creative commons|\\bCC[ -]?BY|\\bCC0|public domain') ORDER BY paper_id, ord"""


def licences_of(cursor: duckdb.DuckDBPyConnection, paper_ids: Sequence[str]) -> dict[str, str]:
    """The addresses of the licences of these papers, those that are known."""
    found: dict[str, str] = {}
    for paper_id, text in cursor.execute(_LICENCES_SENTENCES, {"ids": list(paper_ids)}).fetchall():
        address = licence_in(text) if paper_id not in found else None
        if address is not None:
            found[paper_id] = address
    return found


def licence_in(sentence: str) -> str | None:
    """The address of the Creative Commons licence that a sentence puts its own paper under."""
    text = " ".join(sentence.split())[:2000]
    if not _OF_ITSELF.search(text):
        return None
    if _ZERO.search(text):
        return "https://creativecommons.org/publicdomain/zero/1.0/"
    if code := _CODE.search(text):
        kind, version = re.split(r"[- ]", code[1].upper()), code[2]
    elif words := _WORDS.search(text):
        plain = re.sub(r"(?i)(non|share|no)[- ](?=commercial|alike|deriv)", r"\1", words[1].lower())
        kind, version = [_NAMES[part] for part in re.split(r"[- ]", plain) if part in _NAMES], words[2]
    else:
        return None
    return f"https://creativecommons.org/licenses/{'-'.join(kind).lower()}/{version or '4.0'}/"


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
