"""A digest for a terminal. Papers are untrusted: nothing of theirs is markup, and no control character gets through."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from monjyu_query.answers.render import print_table, quotable, safe
from monjyu_query.answers.segments import pieces
from monjyu_query.digests.digest_result import Digest
from monjyu_query.digests.digest_wording import word


def print_digest(digest: Digest, console: Console | None = None) -> None:
    """What it is of, its paragraphs and tables, then the sources."""
    console = console or Console(highlight=False)
    console.print(Text(safe(digest.subject), style="bold"))
    for warning in digest.warnings:
        console.print(Text(f"Note: {safe(warning)}", style="yellow"))
    text = Text()
    for piece in pieces(digest.segments(), quotable):
        text.append(piece.lead)
        text.append(piece.label, style="bold underline")
        text.append(piece.text)
        text.append(f" {piece.marks}" if piece.marks else "", style="cyan")
    if text:
        console.print(Padding(text, (1, 0)))
    for table in digest.tables:
        print_table(table, console)
    if not digest.parts and not digest.tables:
        console.print(Text(word("nothing", digest.language), style="dim"))
    for citation in digest.citations:
        where = f", page {citation.page}" if citation.page else ""
        line = f"[{citation.n}] {quotable(citation.paper_title or citation.paper_id)}{where}"
        console.print(Text(line, style="cyan"))
