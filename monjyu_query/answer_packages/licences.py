"""Under which licence a paper is, where its own text says so of itself.

Papers speak of the licences of programs and courses far more often than of their own. So a sentence counts only where
its subject is the paper; of all others the licence is not known, and nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import duckdb

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
_SENTENCES = """SELECT paper_id, text FROM sentences WHERE paper_id IN (SELECT unnest($ids::VARCHAR[]))
AND regexp_matches(text, '(?i)creative commons|\\bCC[ -]?BY|\\bCC0|public domain') ORDER BY paper_id, ord"""


def licences_of(cursor: duckdb.DuckDBPyConnection, paper_ids: Sequence[str]) -> dict[str, str]:
    """The addresses of the licences of these papers, those that are known."""
    found: dict[str, str] = {}
    for paper_id, text in cursor.execute(_SENTENCES, {"ids": list(paper_ids)}).fetchall():
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
