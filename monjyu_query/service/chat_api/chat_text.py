"""An answer as chat programs show it: Markdown with [n] marks and a list of sources, inert whatever papers hold."""

from __future__ import annotations

import re

from monjyu_query.answers.render import safe
from monjyu_query.answers.segments import markdown, table_markdown
from monjyu_query.asking.result import Citation, SearchResult

_MARKUP = re.compile(r"(\\*)([\[\]<`]|(?<=\])\()")
"""What Markdown would make a mark, an image (which a program fetches), a link, or markup of."""


def inert(text: str) -> str:
    """One line that shows as it reads: a paper's text becomes no mark, image, link or HTML in a chat program."""
    return _MARKUP.sub(r"\1\1\\\2", safe(text))


def sentences_of(result: SearchResult) -> list[str]:
    """The answer in the pieces that a stream gives, white space between them included; its tables last."""
    tables = [f"\n\n{table_markdown(table, inert)}" for table in result.tables]
    return [markdown([segment], inert) for segment in result.segments] + tables


def sources_of(result: SearchResult) -> str:
    """The list of sources below the answer; empty where nothing is cited."""
    if not result.citations:
        return ""
    quotes = result.answer_engine != "extractive"
    return "\n\nSources:\n" + "\n".join(f"- {_source(citation, quotes=quotes)}" for citation in result.citations)


def _source(citation: Citation, *, quotes: bool) -> str:
    """With what is quoted, where the answer itself is in other words."""
    quote = f": “{inert(citation.quote)}”" if quotes else ""
    page = f", p. {citation.page}" if citation.page else ""
    retracted = " (retracted)" if citation.retracted else ""
    return f"[{citation.n}] {inert(citation.paper_title or citation.paper_id)}{page}{retracted}{quote}"


def chat_text(result: SearchResult) -> str:
    """All of it."""
    return "".join(sentences_of(result)) + sources_of(result)
