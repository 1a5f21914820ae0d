"""DOIs, arXiv ids and years in what a draft says of a work."""

from __future__ import annotations

import re

DOI = re.compile(
    r"(?:https?://(?:dx\.)?doi\.org/|\bdoi:\s{0,3}|(?<![\w./]))(10\.\d{4,9}/[^\s\"<>{}|\\^`\[\]]{1,200})", re.I
)
ARXIV = re.compile(
    r"(?:https?://(?:www\.)?arxiv\.org/(?:abs|pdf)/|\barxiv:\s{0,3})(\d{4}\.\d{4,5}|[a-z-]{2,12}(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?(?:\.pdf)?",
    re.I,
)
YEAR = re.compile(r"(?<!\d)((?:1[89]|20)\d\d)(?!\d)")


def trimmed(doi: str) -> str:
    """Without the punctuation that follows it in a text; a bracket that it opens itself stays."""
    while doi and (doi[-1] in ".,;:'*_" or (doi[-1] == ")" and doi.count("(") < doi.count(")"))):
        doi = doi[:-1]
    return doi.casefold()


def doi_in(text: str) -> str | None:
    found = DOI.search(text)
    return trimmed(found[1]) if found else None


def arxiv_in(text: str) -> str | None:
    found = ARXIV.search(text)
    return found[1] if found else None


def year_in(text: str) -> int | None:
    found = YEAR.search(text)
    return int(found[1]) if found else None
