"""An answer as chat programs show it: Markdown with [n] marks and a list of sources, inert whatever papers hold."""

from __future__ import annotations

from monjyu_query.render import safe
from monjyu_query.result import Citation, SearchResult

_INERT = {"![": "!\\[", "](": "]\\(", "<": "\\<", "`": "\\`"}
"""What Markdown would make an image (which a program fetches), a link, or markup of."""


def inert(text: str) -> str:
    """One line that shows as it reads: a paper's text becomes no image, link or HTML in a chat program."""
    line = safe(text)
    for what, instead in _INERT.items():
        line = line.replace(what, instead)
    return line


def sentences_of(result: SearchResult) -> list[str]:
    """The answer in pieces: a sentence each where it is extractive."""
    pieces = [f"{' '.join(citation.quote.split())} [{citation.n}]" for citation in result.citations]
    if " ".join(pieces) != result.answer:
        pieces = [result.answer]
    return [inert(piece) for piece in pieces if piece]


def sources_of(result: SearchResult) -> str:
    """The list of sources below the answer; empty where nothing is cited."""
    if not result.citations:
        return ""
    return "\n\nSources:\n" + "\n".join(f"- {_source(citation)}" for citation in result.citations)


def _source(citation: Citation) -> str:
    page = f", p. {citation.page}" if citation.page else ""
    retracted = " (retracted)" if citation.retracted else ""
    return (
        f"[{citation.n}] {inert(citation.paper_title or citation.paper_id)}{page}{retracted}: “{inert(citation.quote)}”"
    )


def chat_text(result: SearchResult) -> str:
    """All of it."""
    return " ".join(sentences_of(result)) + sources_of(result)
